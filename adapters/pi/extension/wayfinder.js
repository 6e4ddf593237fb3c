// Pi's side of Wayfinder: registers `update_action_path`, reports what happens, passes a person's
// corrections on. One plain ESM file, node builtins only, the same for Pi 0.73 and Pi 1.x.
//
// For whoever edits this file:
//  1. Nothing here may hold up, deny or break the agent. Every handler is caught, every socket and
//     reconnect timer is unref'd, and all waiting is drawn from one small purse (`patienceMs`).
//  2. Nothing leaves but the fields picked below. Redaction is the adapter's; thrift is ours.
//  3. No `tool_call` handler (a throw there blocks the tool) and no `ctx` kept (it goes stale).
//  4. Frames carry (instance, seq), seq without gaps: it is given when a frame is first written, so
//     what overflows before that is dropped without a hole and counted in a `drop` record.
//
// The frames are drawn in adapters/wire.py.

import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const PROTOCOL = 1;
const TOOL = "update_action_path";
const CONNECT_MS = 80; // at session start, so that the first request already has the constraints
const ANSWER_MS = 150; // for the reconciler's answer to a patch
const PATIENCE_MS = 150; // all fruitless waiting of one run together
const RECONNECT_MS = [500, 1000, 2000, 5000];
const QUEUE_RECORDS_MAX = 2000;
const QUEUE_BYTES_MAX = 4 << 20;
const WRITE_BUFFER_MAX = 1 << 20;
const FRAME_BYTES_MAX = 1 << 20;
const PATCH_BYTES_MAX = 256 << 10;
const TEXT_CHARS_MAX = 64 << 10;
const ARG_CHARS_MAX = 8 << 10;

// Per process and session: what must outlive this module, which Pi loads anew for every session.
const KEPT_MAX = 4;
const KEPT = (globalThis[Symbol.for("wayfinder.kept")] ??= new Map());

// --- where the daemon is ------------------------------------------------------------------------

function runFolder() {
  const own = (folder) => {
    try {
      const s = fs.lstatSync(folder);
      return s.isDirectory() && s.uid === process.getuid() && (s.mode & 0o777) === 0o700;
    } catch {
      return false;
    }
  };
  const uid = process.getuid?.() ?? 0;
  const xdg = process.env.XDG_RUNTIME_DIR;
  if (xdg && path.isAbsolute(xdg) && own(xdg)) return path.join(xdg, "wayfinder");
  if (process.platform === "darwin")
    return path.join(os.homedir(), "Library/Caches/TemporaryItems/wayfinder");
  const login = `/run/user/${uid}`;
  return path.join(own(login) ? login : path.join(os.tmpdir(), `runtime-${uid}`), "wayfinder");
}

/** The daemon's rule (daemon/paths.py); a test holds the two together. */
export function socketPath() {
  const env = process.env;
  if (env.WAYFINDER_AGENT_SOCK) return env.WAYFINDER_AGENT_SOCK;
  return path.join(env.WAYFINDER_RUN_DIR || runFolder(), "agent.sock");
}

function agentVersion() {
  try {
    let folder = path.dirname(fs.realpathSync(process.argv[1]));
    for (let i = 0; i < 5; i++, folder = path.dirname(folder)) {
      const file = path.join(folder, "package.json");
      if (!fs.existsSync(file)) continue;
      const about = JSON.parse(fs.readFileSync(file, "utf8"));
      if (String(about.name).endsWith("pi-coding-agent")) return String(about.version);
    }
  } catch {}
  return null;
}

const VERSION = agentVersion();
// `agent_settled` exists since 0.80.4; the old scope ended at 0.73.
const SETTLES = !/^0\.([0-6]\d|7\d)\./.test(VERSION ?? "");

// --- what may leave -----------------------------------------------------------------------------

// Enough to tell a test from an edit and which file it was; never file contents.
const ARG_KEYS = [
  "command", "cmd", "path", "file_path", "filePath", "pattern", "glob", "query", "url",
  "agent", "name", "action", "status", "id", "offset", "limit", "timeout",
];
// A plan the agent publishes by its own means travels whole (it is a plan, not a file).
const PLAN_TOOL = /todo|plan|task_list|phase/i;
const PLAN_KEYS = ["todos", "plan", "items", "steps", "phases", "tasks", "text", "content", "title"];

const clip = (text, max) => {
  if (text.length <= max) return text;
  const half = max >> 1;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
};

function pickArgs(tool, args) {
  if (args === null || typeof args !== "object") return {};
  const picked = {};
  for (const key of ARG_KEYS) {
    const value = args[key];
    if (typeof value === "string") picked[key] = clip(value, ARG_CHARS_MAX);
    else if (typeof value === "number" || typeof value === "boolean") picked[key] = value;
  }
  if (PLAN_TOOL.test(tool))
    for (const key of PLAN_KEYS)
      if (args[key] !== undefined && JSON.stringify(args[key]).length <= TEXT_CHARS_MAX)
        picked[key] = args[key];
  return picked;
}

const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).filter((c) => c?.type === "text").map((c) => c.text ?? "").join("\n");

function pickDetails(details) {
  if (details === null || typeof details !== "object") return undefined;
  const picked = {};
  if (details.truncation?.truncated) picked.truncated = true;
  if (Number.isInteger(details.firstChangedLine)) picked.firstChangedLine = details.firstChangedLine;
  if (Array.isArray(details.results)) {
    const calls = (m) => (m?.content ?? []).filter?.((c) => c?.type === "toolCall").length ?? 0;
    picked.innerCalls = details.results
      .flatMap((r) => r?.messages ?? [])
      .reduce((n, m) => n + (m?.role === "assistant" ? calls(m) : 0), 0);
  }
  return Object.keys(picked).length ? picked : undefined;
}

// Ids go on the wire as they are where they fit, else as a stable digest.
const ID_FITS = /^[A-Za-z0-9][A-Za-z0-9_.:|/=+-]{0,199}$/;
const wireId = (id) =>
  ID_FITS.test(id) ? id : `id_${createHash("sha256").update(String(id)).digest("hex").slice(0, 32)}`;

// A lone surrogate is no Unicode text, and strict decoders refuse the whole frame for it.
const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);

// --- the link to the daemon ---------------------------------------------------------------------

function newState() {
  return { instance: randomUUID(), nextSeq: 1, acked: 0, sent: [], unsent: [], bytes: 0, dropped: 0,
    receipted: new Set(), seenRevision: null };
}

class Link {
  constructor(state, hello) {
    this.state = state;
    this.hello = hello;
    this.up = false;
    this.dialling = false;
    this.timer = null;
    this.mute = false; // after one timeout: no waiting until the socket has answered
    this.closed = false;
    this.attempts = 0;
    this.patienceMs = PATIENCE_MS;
    this.constraints = [];
    this.waiting = new Map(); // callId -> resolve
    this.late = []; // answers and notices the agent has not seen yet
    this.declared = null;
    this.trouble = null;
    this.onWelcome = null;
  }

  connect() {
    if (this.closed) return;
    const file = socketPath();
    try {
      // Somebody else's socket in a shared folder is not our daemon.
      if (process.getuid && fs.statSync(file).uid !== process.getuid()) return this.retry();
    } catch {
      return this.retry();
    }
    const s = (this.socket = net.connect(file));
    s.unref();
    this.dialling = true;
    let inbox = "";
    s.setEncoding("utf8");
    s.on("connect", () => {
      this.dialling = false;
      this.up = true;
      s.write(JSON.stringify(this.hello, wellFormed) + "\n");
      // The adapter drops what it already has, so everything unacknowledged simply goes again.
      this.state.unsent = [...this.state.sent, ...this.state.unsent];
      this.state.sent = [];
      this.flush();
    });
    s.on("drain", () => this.flush());
    s.on("data", (chunk) => {
      inbox += chunk;
      if (inbox.length > FRAME_BYTES_MAX) return s.destroy();
      const lines = inbox.split("\n");
      inbox = lines.pop();
      try {
        for (const line of lines) if (line && !s.destroyed) this.receive(JSON.parse(line));
      } catch {
        s.destroy();
      }
    });
    s.on("error", () => {});
    s.on("close", () => {
      this.up = this.dialling = false;
      for (const resolve of this.waiting.values()) resolve(null);
      this.waiting.clear();
      this.onWelcome?.();
      this.retry();
    });
  }

  retry() {
    this.onWelcome?.();
    if (this.closed) return;
    const ms = RECONNECT_MS[Math.min(this.attempts++, RECONNECT_MS.length - 1)];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), ms).unref();
  }

  // Something is worth an attempt now: on a unix socket it costs nothing if nobody is there.
  hurry() {
    if (this.up || this.dialling || this.closed) return;
    clearTimeout(this.timer);
    this.connect();
  }

  put(frame, callId) {
    const state = this.state;
    const body = JSON.stringify(frame, wellFormed);
    const bytes = Buffer.byteLength(body);
    const full = () =>
      state.sent.length + state.unsent.length >= QUEUE_RECORDS_MAX ||
      state.bytes + bytes > QUEUE_BYTES_MAX;
    let fits = bytes < FRAME_BYTES_MAX - 64;
    while (fits && full()) fits = this.dropOldest();
    if (!fits) return this.lost(callId);
    state.bytes += bytes;
    state.unsent.push({ body, bytes, seq: 0, callId, sentAt: 0 });
    this.flush();
  }

  lost(callId, count = 1) {
    this.state.dropped += count;
    if (callId) this.later(`Your ${TOOL} call ${callId} was lost: the map was away too long.`);
  }

  dropOldest() {
    const state = this.state;
    let at = state.unsent.findIndex((r) => r.seq === 0 && !r.callId);
    if (at < 0) at = state.unsent.findIndex((r) => r.seq === 0);
    if (at < 0) return false;
    const [record] = state.unsent.splice(at, 1);
    state.bytes -= record.bytes;
    this.lost(record.callId, record.stands); // a dropped `drop` stands for all it counted
    return true;
  }

  flush() {
    const state = this.state;
    while (this.up && !this.closed && this.socket.writableLength < WRITE_BUFFER_MAX) {
      const next = state.unsent[0];
      if (state.dropped > 0 && next?.seq === 0) {
        const stands = state.dropped;
        const body = JSON.stringify({ t: "obs", at: Date.now(), ev: "drop", count: stands });
        state.dropped = 0;
        state.bytes += body.length;
        state.unsent.unshift({ body, bytes: body.length, seq: 0, sentAt: 0, stands });
        continue;
      }
      if (!next) return;
      state.unsent.shift();
      if (next.seq === 0) next.seq = state.nextSeq++;
      next.sentAt = Date.now();
      state.sent.push(next);
      this.socket.write(`{"seq":${next.seq},${next.body.slice(1)}\n`);
    }
  }

  receive(frame) {
    this.mute = false;
    if (frame.t === "welcome") {
      this.attempts = 0;
      if ((frame.ack ?? 0) < this.state.acked) return this.startOver();
      this.acked(frame.ack ?? 0);
      this.declared = frame.declared !== false;
      this.constraints = frame.constraints ?? [];
      this.onWelcome?.();
    } else if (frame.t === "ack") this.acked(frame.seq);
    else if (frame.t === "constraints") this.constraints = frame.items ?? [];
    else if (frame.t === "anchor") this.later(clip(String(frame.text ?? ""), 600));
    else if (frame.t === "answer") {
      const resolve = this.waiting.get(frame.callId);
      this.waiting.delete(frame.callId);
      if (resolve) return resolve(frame.answer);
      this.later(`Your queued ${TOOL} call ${frame.callId}: ${answerText(frame.answer)}`, frame.answer);
    } else if (frame.t === "error") {
      this.trouble = `Wayfinder: ${frame.code}; expected ${frame.expected}. Pi goes on without it.`;
      if (frame.code === "version") this.close(0);
    }
  }

  // The daemon has lost what it had acknowledged (its state was deleted): be somebody new to it.
  startOver() {
    const state = this.state;
    state.instance = this.hello.instance = randomUUID();
    for (const record of [...state.sent, ...state.unsent]) record.seq = 0;
    Object.assign(state, { nextSeq: 1, acked: 0 });
    this.up = false; // at once: nothing may be numbered before what waits already
    this.socket.destroy();
  }

  acked(seq) {
    const state = this.state;
    state.acked = Math.max(state.acked, seq);
    while (state.sent.length && state.sent[0].seq <= seq) {
      const record = state.sent.shift();
      state.bytes -= record.bytes;
      if (Date.now() - record.sentAt <= ANSWER_MS) this.patienceMs = PATIENCE_MS;
    }
    while (state.unsent.length && state.unsent[0].seq > 0 && state.unsent[0].seq <= seq)
      state.bytes -= state.unsent.shift().bytes;
    this.flush();
  }

  later(text, answer) {
    this.late.push({ text, revision: answer?.revision, shown: false });
    if (this.late.length > 8) this.late.shift();
  }

  /** Waits for `start(done)` at most `capMs`, out of the purse; false when time ran out. */
  wait(capMs, start) {
    const ms = this.mute || this.closed ? 0 : Math.min(capMs, this.patienceMs);
    if (ms <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.mute = true;
        this.patienceMs -= ms;
        resolve(false);
      }, ms);
      start(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  async answerTo(callId) {
    if (!this.up && !this.dialling) return null;
    let answer = null;
    await this.wait(ANSWER_MS, (done) =>
      this.waiting.set(callId, (given) => {
        answer = given;
        done();
      }));
    this.waiting.delete(callId);
    return answer;
  }

  async close(capMs) {
    if (this.state.sent.length || this.state.unsent.length) this.hurry();
    const s = this.socket;
    if (this.dialling && capMs > 0)
      await this.wait(capMs, (done) => s.once("connect", done).once("close", done));
    if (this.up && capMs > 0) {
      this.flush();
      // Half-close: the adapter takes what is on its way, then closes its side.
      const taken = this.wait(capMs, (done) => {
        s.once("close", done);
        s.end();
      });
      this.closed = true;
      await taken;
    }
    this.closed = true;
    s?.destroy();
  }
}

// --- words for the model ------------------------------------------------------------------------

const list = (items, max = 24) =>
  items?.length ? items.slice(0, max).join(", ") + (items.length > max ? ", …" : "") : "none";

function whereText(where) {
  if (!where) return "";
  const at = where.active
    ? `${where.tokenId} is reserved by the active ${where.active} (from ${where.placeId}).`
    : `${where.tokenId} stands on ${where.placeId}; nothing is active.`;
  return `${at} Enabled: ${list(where.enabled)}.`;
}

const quoted = (text) => JSON.stringify(clip(String(text), 600));

// One entry per answer status: vocabulary/answer.py. The agent must be able to mend from it alone.
const ANSWERS = {
  applied: (a) => [
    `applied; path revision ${a.revision}.`,
    whereText(a.where),
    ...Object.entries(a.evidenceKeys ?? {}).map(([id, keys]) => `${id} expects ${list(keys)}.`),
    a.evidenceIds?.length ? `New evidence: ${list(a.evidenceIds)}.` : "",
    ...(a.warnings ?? []).map((w) => `Warning: ${w}`),
    ...(a.hints ?? []).map((h) => `Hint: ${h}`),
  ],
  unchanged: (a) => [
    `unchanged; that changes nothing, path revision stays ${a.revision}.`,
    whereText(a.where),
    ...(a.hints ?? []).map((h) => `Hint: ${h}`),
  ],
  read: (a) => [
    `path revision ${a.revision}.`,
    whereText(a.where),
    `Nodes: ${list(a.nodeIds, 64)}.`,
    `Newest evidence: ${list(a.evidenceIds)}.`,
    ...(a.constraints ?? []).map(constraintLine),
  ],
  rejected: (a) => [
    `rejected; nothing was changed, path revision ${a.revision}.`,
    ...(a.faults ?? []).map(
      (f) => `- ${f.code} at ${f.path}: ${f.expected}` +
        (f.known?.length ? ` Existing: ${list(f.known)}.` : "")),
    whereText(a.where),
    "Mend it and call again, or go on with the work.",
  ],
  conflict: (a) => [
    `conflict; nothing was changed. The path is at revision ${a.revision}, newer than you had seen.`,
    `Changed meanwhile: ${list(a.conflicting)}. Ops that still fit as they are: ${list(a.rebaseable)}.`,
    whereText(a.where),
    "Call again with what still holds.",
  ],
  proposed: (a) => [`proposed as ${a.proposalId}; a person decides. Path revision ${a.revision}.`],
  queued: () => ["queued; go on with the work. If it is refused you will be told."],
};

function answerText(answer) {
  const words = ANSWERS[answer?.status];
  return words ? words(answer).filter(Boolean).join("\n") : "queued; go on with the work.";
}

// Fixed sentences; the person's own words stand in them as quoted data only.
const CONSTRAINTS = {
  text: (c) => `said: ${quoted(c.text)}`,
  goal: (c) => `set the goal: ${quoted(c.text)}`,
  retire: (c) => `retired ${c.targetId}; do not work on it`,
  gate: (c) => `decides at ${c.targetId}; stop there and ask`,
  open_gate: (c) => `opened ${c.targetId}`,
  redescribe: (c) => `says ${c.targetId} is described wrongly`,
  only: (c) => `wants work on ${c.targetId} alone for now`,
  wrong_step: (c) => `says ${c.targetId} is not what should be done now`,
  supersede: (c) => `put ${c.targetId} out of the way`,
  undo: (c) => `took back ${c.targetId}`,
  accept: (c) => `accepted ${c.targetId}`,
  reject: (c) => `rejected ${c.targetId}`,
};

function constraintLine(c) {
  const say = CONSTRAINTS[c.type] ?? (() => `corrected ${c.targetId ?? "the path"}`);
  const words = c.text && c.type !== "text" && c.type !== "goal" ? `: ${quoted(c.text)}` : "";
  return `- [${c.correctionId}] The person ${say(c)}${words}`;
}

function noteText(constraints, late) {
  const parts = [];
  if (constraints.length)
    parts.push(
      "[wayfinder] Standing corrections from the person you work for. They outrank the plan; " +
        "quoted words are theirs.",
      ...constraints.map(constraintLine),
      `Path revision ${Math.max(...constraints.map((c) => c.revision ?? 0))}.`);
  if (late.length) parts.push("[wayfinder] Since your last request:", ...late.map((l) => l.text));
  return parts.join("\n");
}

const EXAMPLE = {
  ops: [
    { op: "create_place", placeId: "pl_goal", type: "Goal", label: "Logins survive a token refresh" },
    { op: "create_place", placeId: "pl_reproduced", type: "Condition", label: "The failure is reproduced" },
    { op: "create_transition", transitionId: "tr_reproduce", type: "Investigate",
      intent: "Reproduce the refresh failure", whyNow: "Without a stable failure no fix can be judged",
      action: "Run the refresh test and keep its failure signature",
      expectedEvidence: ["The refresh assertion fails every time"],
      evidenceSelectors: ["assertion:refresh=fail"],
      exitCondition: "A stable signature, or proof that the test is unreliable",
      failureCondition: "The failure comes and goes", owner: "main" },
    { op: "create_transition", transitionId: "tr_fix", type: "Implement", intent: "Repair the refresh path" },
    { op: "connect", fromId: "pl_start", toId: "tr_reproduce", arc: "flow" },
    { op: "connect", fromId: "tr_reproduce", toId: "pl_reproduced", arc: "success" },
    { op: "connect", fromId: "pl_reproduced", toId: "tr_fix", arc: "flow" },
    { op: "connect", fromId: "tr_fix", toId: "pl_goal", arc: "success" },
    { op: "activate_transition", transitionId: "tr_reproduce", tokenId: "tok_main" },
  ],
};

const EXAMPLE_LATER = {
  ops: [
    { op: "attach_evidence", targetId: "tr_reproduce",
      evidence: { evidenceId: "ev_stable", summary: "Failed 3 times alike", satisfies: ["ee1"] } },
    { op: "complete_transition", transitionId: "tr_reproduce", tokenId: "tok_main",
      evidenceIds: ["ev_stable"] },
    { op: "set_transition_contract", transitionId: "tr_fix", whyNow: "The signature is stable",
      action: "Change how the session is saved", owner: "main",
      expectedEvidence: ["The refresh test passes"], exitCondition: "It passes twice in a row" },
    { op: "activate_transition", transitionId: "tr_fix", tokenId: "tok_main" },
  ],
};

const DESCRIPTION = [
  "Declare where you are going, so that the person you work for can look up and see it: a small net",
  "of conditions (places) and intended actions (transitions). Local, runs no code, costs a few ms.",
  "All ops of one call apply together or not at all. A new session has the place pl_start, with your",
  "token tok_main on it; connect your first transition from there. A transition needs one flow arc in",
  "and one success arc out (a failure arc is optional), and to be activated also expectedEvidence and",
  "exitCondition. Be concrete near, vague far: a later step needs only type and intent. One transition",
  "is active at a time. Empty ops reads the path back. A complete first call:",
  JSON.stringify(EXAMPLE),
  "Later calls: complete_transition or fail_transition {transitionId, tokenId, evidenceIds} moves the",
  "token on; attach_evidence says what was shown; supersede_transition {oldTransitionId, newTransitionId, reason} or",
  "retire_transition {transitionId, reason} says what you gave up and why (fail an active one first).",
].join(" ");

const SNIPPET = "Declare or change your action path: intent, why now, expected evidence, what comes next";
const GUIDELINES = [
  `Call ${TOOL} at these boundaries and no others: when you start a new phase of intent; when the ` +
    "current transition changes; when new evidence changes the path; when one strategy has failed " +
    "twice; when you need a person's judgement or permission (type AskHuman); before you claim to be " +
    "done. Never once per tool call.",
  `In the first ${TOOL} call of a session connect from pl_start with the token tok_main; use short ` +
    "ids of your own such as tr_reproduce and pl_cause_known.",
  `Example of a later ${TOOL} call: ${JSON.stringify(EXAMPLE_LATER)}`,
  `Never write hidden reasoning, prompts, secrets, environment values, file contents or ` +
    `step-by-step busywork into ${TOOL}: only operational intent, conditions and evidence.`,
  `If ${TOOL} answers rejected or conflict, mend the patch from its text or go on; it never blocks ` +
    "your work.",
];

// Generated from vocabulary/patch.py; says what the fields are and refuses next to nothing, since
// the reconciler's refusals teach and a validator's do not.
const SCHEMA = (() => {
  try {
    const file = new URL("./patch.schema.json", import.meta.url);
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return { type: "object", properties: { ops: { type: "array", items: { type: "object" } } } };
  }
})();
const FIELDS = SCHEMA.properties.ops.items.properties ?? {};

// Models write `ops` as a string, a single op, or as the arguments themselves, a list of one as
// the thing itself, and null for what they leave out; all of it is meant.
function prepare(args) {
  let given = args;
  try {
    if (typeof given === "string") given = JSON.parse(given);
    if (Array.isArray(given)) given = { ops: given };
    if (typeof given?.ops === "string") given = { ...given, ops: JSON.parse(given.ops) };
  } catch {}
  given = given !== null && typeof given === "object" ? given : {};
  const ops = given.op !== undefined ? [given] : (given.ops ?? []);
  return { ...given, ops: (Array.isArray(ops) ? ops : [ops]).map(prepareOp) };
}

function prepareOp(op) {
  if (op === null || typeof op !== "object" || Array.isArray(op)) return { op: String(op) };
  const told = Object.entries(op).filter(([, value]) => value !== null);
  const whole = ([key, value]) =>
    FIELDS[key]?.type === "array" && typeof value === "string" ? [key, [value]] : [key, value];
  return Object.fromEntries(told.map(whole));
}

const DECLARED_OFF = /^(off|false|no|0)$/i;

// --- the extension ------------------------------------------------------------------------------

export default function wayfinder(pi) {
  let link = null;
  let session = null;
  let pendingRevision = null; // told in an answer, not yet read by the model
  let replyAt = 0;
  let promptSource = null;
  let settleTimer = null;
  let registered = false;
  const started = new Map(); // callId -> start ms
  const leaves = new Map(); // callId -> {leaf, durationMs}

  // A failing handler of ours is our trouble alone.
  const on = (name, handler) => {
    try {
      pi.on(name, async (event, ctx) => {
        try {
          return await handler(event, ctx);
        } catch {
          return undefined;
        }
      });
    } catch {}
  };
  const obs = (ev, fields, at) =>
    link?.put({ t: "obs", at: Math.trunc(at ?? Date.now()), ev, ...fields });

  function parentOf(header, reason) {
    const from = process.env.WAYFINDER_PARENT_SESSION;
    if (from && process.env.WAYFINDER_PARENT_PID !== String(process.pid)) return from;
    const file = reason === "fork" && header?.parentSession;
    return file ? path.basename(file, ".jsonl").split("_").pop() : null;
  }

  // The revision the model last read, from its own conversation: a fork starts with an empty net.
  function seenIn(branch) {
    for (let i = branch.length - 1; i >= 0; i--) {
      const message = branch[i]?.message;
      if (message?.role !== "toolResult" || message.toolName !== TOOL) continue;
      const told = message.details?.wayfinder;
      if (told?.session === session && Number.isInteger(told.revision)) return told.revision;
    }
    return 0;
  }

  function register() {
    if (DECLARED_OFF.test(process.env.WAYFINDER_DECLARED_PATH ?? "")) return;
    if (link.declared === false) return;
    pi.registerTool({
      name: TOOL,
      label: "Action path",
      description: DESCRIPTION,
      promptSnippet: SNIPPET,
      promptGuidelines: GUIDELINES,
      parameters: SCHEMA,
      prepareArguments: prepare,
      execute: (callId, params) => declare(callId, prepare(params)),
    });
    registered = true;
  }

  // A welcome that came too late for `register` may still say that the declared path is off.
  function withdraw() {
    if (!registered || link?.declared !== false) return;
    registered = false;
    pi.setActiveTools(pi.getActiveTools().filter((name) => name !== TOOL));
  }

  async function declare(callId, params) {
    const id = wireId(callId);
    const state = link?.state;
    const given = (value, fallback) => (value === undefined || value === null ? fallback : value);
    const patch = {
      schemaVersion: 1,
      patchId: `patch_${randomUUID()}`,
      baseRevision: given(params.baseRevision, state?.seenRevision ?? 0),
      idempotencyKey: given(params.idempotencyKey, id),
      actor: { type: "agent", agentId: "main" },
      ops: params.ops,
    };
    let answer = null;
    if (JSON.stringify(patch).length > PATCH_BYTES_MAX)
      answer = { status: "rejected", revision: patch.baseRevision,
        faults: [{ code: "too_large", path: "$.ops", expected: `at most ${PATCH_BYTES_MAX} bytes` }] };
    else if (link) {
      link.hurry();
      const reply = link.answerTo(id);
      link.put({ t: params.proposal === true ? "propose" : "patch",
        at: replyAt || Date.now(), callId: id, patch }, id);
      answer = await reply;
    }
    answer ??= { status: "queued", revision: patch.baseRevision };
    if (answer.status !== "queued") pendingRevision = answer.revision;
    return {
      content: [{ type: "text", text: answerText(answer) }],
      details: { wayfinder: { session, status: answer.status, revision: answer.revision,
        baseRevision: patch.baseRevision, idempotencyKey: patch.idempotencyKey } },
    };
  }

  on("session_start", async (event, ctx) => {
    const manager = ctx.sessionManager;
    const id = manager.getSessionId();
    if (link && !link.closed && session === id) return; // the old Pi says it twice in RPC mode
    const kept = KEPT.get(id);
    if (kept?.open) return; // installed twice: the first copy speaks
    const branch = manager.getBranch() ?? [];
    const header = manager.getHeader?.();
    session = id;
    const state = kept ?? newState();
    state.open = true;
    KEPT.delete(id);
    KEPT.set(id, state);
    for (const [other, old] of KEPT) if (KEPT.size > KEPT_MAX && !old.open) KEPT.delete(other);
    state.seenRevision = seenIn(branch);
    const messages = branch.filter((e) => e?.type === "message").length;
    const resumed = event.reason === "startup" && messages > 0;
    const reason = resumed ? "resume" : event.reason;
    const file = manager.getSessionFile() ?? null;
    link = new Link(state, { t: "hello", v: PROTOCOL, agent: "pi", agentVersion: VERSION,
      instance: state.instance, pid: process.pid, session: id, file, cwd: ctx.cwd,
      parent: parentOf(header, reason), reason, entries: messages });
    process.env.WAYFINDER_PARENT_SESSION = id;
    process.env.WAYFINDER_PARENT_PID = String(process.pid);
    await link.wait(CONNECT_MS, (done) => {
      link.onWelcome = done;
      link.connect();
    });
    link.onWelcome = null;
    register();
  });

  on("session_tree", (_, ctx) => {
    if (!link) return;
    link.state.seenRevision = seenIn(ctx.sessionManager.getBranch() ?? []);
    obs("tree", {});
  });
  on("session_compact", (event) => {
    const at = Date.parse(event.compactionEntry?.timestamp);
    obs("compact", {}, Number.isFinite(at) ? at : undefined);
  });

  on("input", (event) => {
    promptSource = event.source ?? null;
    withdraw();
  });

  on("agent_start", (_, ctx) => {
    clearTimeout(settleTimer);
    settleTimer = null;
    if (!link?.trouble) return;
    if (ctx.hasUI) ctx.ui.notify(link.trouble, "warning");
    else process.stderr.write(link.trouble + "\n");
    link.trouble = null;
  });

  on("message_end", (event) => {
    const message = event.message;
    if (message.role === "user") {
      obs("prompt", { text: clip(textOf(message.content), TEXT_CHARS_MAX),
        source: promptSource ?? "interactive" }, message.timestamp);
    } else if (message.role === "assistant") {
      replyAt = message.timestamp ?? 0;
      const calls = (message.content ?? []).filter((c) => c?.type === "toolCall");
      const failed = message.stopReason === "error" || message.stopReason === "aborted";
      if (link && !failed) link.late = link.late.filter((l) => !l.shown);
      const ids = (some) => some.map((c) => wireId(c.id));
      obs("reply", { stopReason: String(message.stopReason), calls: ids(calls),
        patches: ids(calls.filter((c) => c.name === TOOL)),
        ...(message.errorMessage ? { error: clip(String(message.errorMessage), 2000) } : {}) },
        message.timestamp);
    } else if (message.role === "toolResult") toolEnded(message);
  });

  on("tool_execution_start", (event) => {
    started.set(event.toolCallId, Date.now());
    if (event.toolName === TOOL) return;
    process.env.WAYFINDER_PARENT_CALL = event.toolCallId;
    obs("call_start", { callId: wireId(event.toolCallId), tool: event.toolName,
      args: pickArgs(event.toolName, event.args) });
    leaves.set(event.toolCallId, { args: event.args });
  });

  on("tool_execution_end", (event, ctx) => {
    const begun = started.get(event.toolCallId);
    started.delete(event.toolCallId);
    const known = leaves.get(event.toolCallId);
    if (!known) return;
    known.leaf = ctx.sessionManager.getLeafId() ?? null;
    known.durationMs = Math.trunc(event.durationMs ?? (begun ? Date.now() - begun : 0));
  });

  // Results come as messages in source order, whatever order the calls ended in.
  function toolEnded(message) {
    const known = leaves.get(message.toolCallId) ?? {};
    leaves.delete(message.toolCallId);
    if (message.toolName === TOOL) return; // its place in the order is the reply that made it
    const exit = message.details?.exitCode ?? message.structuredContent?.exit_code;
    obs("call_end", {
      callId: wireId(message.toolCallId), tool: message.toolName, isError: message.isError === true,
      args: pickArgs(message.toolName, known.args), text: clip(textOf(message.content), TEXT_CHARS_MAX),
      ...(pickDetails(message.details) ? { details: pickDetails(message.details) } : {}),
      ...(Number.isInteger(exit) ? { exitCode: exit } : {}),
      durationMs: known.durationMs ?? 0, leaf: known.leaf ?? null,
    }, message.timestamp);
  }

  // Reads the cache and nothing else: the model never waits for us here.
  on("context", (event) => {
    if (!link) return;
    const state = link.state;
    const reads = [state.seenRevision, pendingRevision,
      ...link.late.map((l) => l.revision), ...link.constraints.map((c) => c.revision)];
    state.seenRevision = Math.max(...reads.filter(Number.isInteger), 0);
    pendingRevision = null;
    if (!link.constraints.length && !link.late.length) return;
    for (const late of link.late) late.shown = true;
    for (const c of link.constraints)
      if (!state.receipted.has(c.correctionId)) {
        state.receipted.add(c.correctionId);
        obs("receipt", { correctionId: c.correctionId });
      }
    return { messages: [...event.messages, { role: "custom", customType: "wayfinder",
      content: noteText(link.constraints, link.late), display: false, timestamp: Date.now() }] };
  });

  on("ui_prompt_start", (event) =>
    obs("ui", { open: true, kind: event.kind ?? null,
      ...(event.title ? { title: clip(String(event.title), 200) } : {}) }));
  on("ui_prompt_end", (event) => obs("ui", { open: false, kind: event.kind ?? null }));

  const settle = (aborted) => {
    clearTimeout(settleTimer);
    settleTimer = null;
    obs("settled", { aborted });
  };
  on("agent_settled", (event) => settle(event.aborted === true));
  // The old Pi has no such event: its run is over when no new one starts within a moment.
  on("agent_end", (event) => {
    if (SETTLES) return;
    clearTimeout(settleTimer);
    const last = event.messages?.at(-1);
    settleTimer = setTimeout(() => settle(last?.stopReason === "aborted"), 300);
    settleTimer.unref();
  });

  on("session_shutdown", async (event) => {
    if (!link || link.closed) return;
    if (settleTimer) settle(false);
    obs("shutdown", { reason: event.reason ?? "quit" });
    link.state.open = false;
    await link.close(ANSWER_MS);
  });
}
