// Starts the page: signs in, follows the list and one session, and draws what changes.

import { assign, h, fill, $ } from "./dom.js";
import { state, set, onChange, view } from "./store.js";
import { Stream, Refused, forget, signIn, get } from "./api.js";
import { merged } from "./merge.js";
import { t, span } from "./words.js";
import { drawLines } from "./lines.js";
import { Corridor } from "./corridor.js";
import { drawDrawer } from "./drawer.js";
import { buildSay, drawSay, focused } from "./correct.js";
import { drawNotices, returned } from "./notices.js";
import { buildSessions, drawSessions, newest } from "./sessions.js";
import { drawReplay } from "./replay.js";
import { buildKeys } from "./keys.js";
import * as keep from "./keep.js";

const REDRAW_AGES_MS = 10_000;
const STAY_KNOWN_MS = 4 * 60_000; // a hidden tab says that it is still there
let resume = { epoch: "", n: -1 };
let back = true; // somebody has just come back, and is told what they missed
let said = { now: null, asks: null };

const corridor = new Corridor();
buildSay();
buildSessions(choose);
buildKeys(corridor);
$("language-button").addEventListener("click", () => set({ language: keep.language(state.language === "zh" ? "en" : "zh") }));
$("theme-button").addEventListener("click", () => { keep.theme(keep.theme() === "dark" ? "light" : "dark"); draw(); });

const stream = new Stream({
  resume: () => ({ session: state.sessionId ?? "", ...resume }),
  onLine: (line) => LINES[line.t]?.(line),
  onLink: (link) => {
    if (link === "signedout") forget();
    set({ link });
  },
});

// One entry per kind of line of the stream (clients/web/feeds.py draws them).
const LINES = {
  list: ({ frame }) => listed(frame),
  "list+": ({ change }) => listed(merged(state.list, change)),
  view: ({ epoch, n, frame }) => { resume = { epoch, n }; framed(frame); },
  "view+": ({ n, change }) => {
    if (n !== resume.n + 1 || !state.live) return restart();
    resume = { ...resume, n };
    framed(merged(state.live, change));
  },
  gone: () => set({ link: "gone", live: null, past: null, drawer: null }),
  waiting: ({ items }) => set({ waiting: items }),
  signin: () => { $("polite").textContent = t("new_page"); },
};

function listed(list) {
  set({ list });
  if (!state.sessionId || !(state.sessionId in list)) {
    const first = keep.session() in list ? keep.session() : newest(list);
    if (first) choose(first);
  }
}

function framed(frame) {
  set({ live: frame, link: "open" });
  if (!back) return;
  // What was missed may come in several steps; the list, which comes first, says where they end.
  returned();
  back = frame.seq < (state.list[state.sessionId]?.lastSeq ?? 0);
}

function choose(sessionId) {
  if (sessionId === state.sessionId) return;
  if (state.live) void focused({});
  keep.session(sessionId);
  set({ sessionId, live: null, past: null, selected: null, drawer: null, proposals: [] });
  back = true;
  restart();
}

function restart() {
  resume = { epoch: "", n: -1 };
  stream.turn();
}

// --- drawing ------------------------------------------------------------------------------------

function draw() {
  words();
  drawNotices();
  drawLines();
  $("path").hidden = !view();
  corridor.draw();
  drawDrawer();
  drawSay();
  drawReplay();
  drawSessions();
  pulse();
  announce();
}

function words() {
  const lang = state.language === "zh" ? "zh-CN" : "en";
  // The whole page is styled anew whenever this is set, even to what it was.
  if (document.documentElement.lang !== lang) document.documentElement.lang = lang;
  $("skip").textContent = t("skip");
  const language = $("language-button");
  language.textContent = t("language");
  assign(language, { lang: state.language === "zh" ? "en" : "zh-CN" });
  $("theme-button").textContent = t(keep.theme() === "dark" ? "theme_light" : "theme_dark");
  $("overview-button").textContent = t("overview");
  $("help-button").setAttribute("aria-label", t("help"));
  assign($("path"), { "aria-label": t("path") });
  assign($("drawer"), { "aria-label": t(state.drawer === "overview" ? "overview" : "evidence") });
  const goal = view()?.northStar.text;
  document.title = goal ? `${goal} · Wayfinder` : "Wayfinder";
}

/** What is only known while it lasts: the tool that runs. Small; it is no reason to look. */
function pulse() {
  const live = state.past ? null : state.live?.live;
  const text = live?.gone ? t("detached") : live?.tool ? t("running_tool", { tool: live.tool, age: span(Date.now() - live.toolSince) }) : "";
  fill($("pulse"), text ? h("span", text) : null);
}

/** Said aloud: a new NOW politely, what needs a person at once. */
function announce() {
  const shown = view();
  if (!shown || state.past) return;
  const asks = shown.watches.find((one) => one.rank === 1)?.line.text ?? null;
  if (said.now !== null && said.now !== shown.now.text) $("polite").textContent = `${t("now")}: ${shown.now.text}`;
  if (asks && asks !== said.asks) $("assertive").textContent = asks;
  said = { now: shown.now.text, asks };
}

// --- life ---------------------------------------------------------------------------------------

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") void focused({}, { keepalive: true });
  else back = true;
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
setInterval(() => { if (document.visibilityState === "visible") { pulse(); drawSessions(); } }, REDRAW_AGES_MS);
setInterval(() => { if (document.visibilityState === "hidden") void get("/api/alive").catch(() => null); }, STAY_KNOWN_MS);

async function start() {
  keep.theme(keep.theme());
  set({ language: keep.language() });
  onChange(draw);
  try {
    const grant = await signIn();
    if (!grant) return set({ link: "signedout" });
    set({ mayCorrect: keep.grant(grant) });
    stream.turn();
  } catch (error) {
    set({ link: error instanceof Refused && error.status === 401 ? "signedout" : "away" });
  }
}

void start();
