// Drives the extension without Pi where a test needs what Pi would not do on demand: thousands of
// events at once, a hundred declarations to a daemon that never answers. `pi` here is a stub that
// records handlers and the tool; everything else (sockets, timers, the extension) is real.
//
//     node drive.mjs <wayfinder.js> <scenario> [number]     prints one JSON object

import { pathToFileURL } from "node:url";

const [file, scenario, number] = process.argv.slice(2);
const extension = await import(pathToFileURL(file));

function pi() {
  const handlers = new Map();
  const tools = [];
  return {
    handlers, tools,
    on: (name, handler) => handlers.set(name, handler),
    registerTool: (tool) => tools.push(tool),
    getActiveTools: () => tools.map((t) => t.name),
    setActiveTools: () => {},
  };
}

const sessionManager = {
  getSessionId: () => "0199aaaa-0000-7000-8000-000000000001",
  getSessionFile: () => null,
  getLeafId: () => "leaf0001",
  getBranch: () => [],
  getHeader: () => ({}),
};
const ctx = { sessionManager, cwd: "/tmp", hasUI: false };

function loaded() {
  const host = pi();
  extension.default(host);
  host.say = (name, event = {}) => host.handlers.get(name)?.({ type: name, ...event }, ctx);
  return host;
}

const prompt = (text) => ({ message: { role: "user", content: text, timestamp: Date.now() } });

const SCENARIOS = {
  path: async () => ({ path: extension.socketPath() }),

  // All waiting of a run in which nobody ever answers.
  patience: async () => {
    const host = loaded();
    const began = performance.now();
    await host.say("session_start", { reason: "startup" });
    for (let i = 0; i < Number(number); i++)
      await host.tools[0].execute(`call_${i}`, { ops: [] });
    await host.say("session_shutdown", { reason: "quit" });
    return { waited_ms: performance.now() - began };
  },

  // More than the queue holds while nobody listens; then the daemon comes.
  overflow: async () => {
    const host = loaded();
    const path = process.env.WAYFINDER_AGENT_SOCK;
    process.env.WAYFINDER_AGENT_SOCK = `${path}.absent`;
    await host.say("session_start", { reason: "startup" });
    await host.tools[0].execute("call_patch", { ops: [] });
    for (let i = 0; i < Number(number); i++) await host.say("message_end", prompt(`prompt ${i}`));
    process.env.WAYFINDER_AGENT_SOCK = path;
    await host.say("session_shutdown", { reason: "reload" });
    const again = loaded(); // what Pi does on /reload: the module anew, the process the same
    await again.say("session_start", { reason: "reload" });
    await again.say("message_end", prompt("a lone surrogate \ud83d and 完"));
    const [kept] = globalThis[Symbol.for("wayfinder.kept")].values();
    while (kept.sent.length || kept.unsent.length) await new Promise((r) => setTimeout(r, 5));
    await again.say("session_shutdown", { reason: "quit" });
    return {};
  },

  // The welcome that says "off" may come after the tool was offered: it is withdrawn again.
  withdraw: async () => {
    const host = loaded();
    await host.say("session_start", { reason: "startup" });
    let active = host.tools.map((t) => t.name);
    host.getActiveTools = () => active;
    host.setActiveTools = (names) => (active = names);
    while (active.length) {
      await host.say("input", { source: "interactive" });
      await new Promise((r) => setTimeout(r, 5));
    }
    await host.say("session_shutdown", { reason: "quit" });
    return { active };
  },

  // Arguments as models really write them.
  sloppy: async () => {
    const host = loaded();
    await host.say("session_start", { reason: "startup" });
    const shapes = [
      { ops: '[{"op":"connect","fromId":"a","toId":"b","arc":"flow"}]' },
      { op: "retire_transition", transitionId: "tr_a", reason: "no longer needed" },
      { ops: { op: "create_transition", transitionId: "tr_a", type: "Verify", intent: "x",
        expectedEvidence: "one text", exitCondition: null } },
      {},
    ];
    for (const [i, shape] of shapes.entries()) await host.tools[0].execute(`call_${i}`, shape);
    await host.say("session_shutdown", { reason: "quit" });
    return {};
  },
};

console.log(JSON.stringify(await SCENARIOS[scenario]()));
