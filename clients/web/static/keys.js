// The keys of the whole page, and the help that lists them. Everything works without a pointer.

import { h, fill, $ } from "./dom.js";
import { set, state } from "./store.js";
import { t } from "./words.js";
import * as replay from "./replay.js";
import { openSessions } from "./sessions.js";
import { mark } from "./lines.js";

let corridor = null;
const KEYS = {
  g: () => corridor.focus(),
  c: () => $("say-line").focus(),
  "/": () => $("say-line").focus(),
  s: openSessions,
  o: () => set({ drawer: state.drawer === "overview" ? null : "overview" }),
  r: () => replay.enter(),
  f: () => corridor.follow(),
  w: () => corridor.camera.whole(),
  "+": () => corridor.camera.zoom(1.25),
  "-": () => corridor.camera.zoom(1 / 1.25),
  l: () => $("language-button").click(),
  t: () => $("theme-button").click(),
  "?": () => openHelp(),
};
const LISTED = [["g", "path"], ["c", "say"], ["s", "sessions"], ["o", "overview"], ["r", "replay"], ["f w + -", "follow"], ["l", "language"], ["t", "theme"], ["?", "help"], ["Esc", "close"]];

export function buildKeys(drawn) {
  corridor = drawn;
  document.addEventListener("keydown", key);
  $("help-button").addEventListener("click", openHelp);
  $("overview-button").addEventListener("click", KEYS.o);
  $("replay-button").addEventListener("click", KEYS.r);
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return escape(event);
  const writes = event.target.closest?.("input:not([type=range]), textarea, select");
  if (writes) return;
  const does = (replay.on() && inReplay(event)) || KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (!does) return;
  event.preventDefault();
  does();
}

const inReplay = (event) =>
  ({ ArrowLeft: () => replay.step(-1), ArrowRight: () => replay.step(1), p: replay.play, P: replay.play, Home: () => replay.step(-1e9), End: () => replay.step(1e9) })[event.key];

function escape(event) {
  if (event.target.matches?.("#say-line")) return event.target.blur();
  if (state.drawer) {
    const back = state.drawer === "node" ? state.selected : null;
    set({ drawer: null });
    if (back) corridor.focus(back);
    else $("overview-button").focus();
  } else if (replay.on()) replay.leave();
}

export function openHelp() {
  const row = (keys, name) => h("div", h("dt", keys.split(" ").map((one) => [h("kbd", one.length === 1 ? one.toUpperCase() : one), " "])), h("dd", t(`k_${name}`)));
  const marks = ["declared", "observed", "inferred", "human", "unknown"];
  fill($("help"),
    h("header.head", h("h2", { id: "help-title" }, t("help")), h("button.quiet.close", { type: "button", "aria-label": t("close"), onclick: () => $("help").close() }, "✕")),
    h("h3.label", t("keys")), h("dl.keys", LISTED.map(([keys, name]) => row(keys, name))),
    h("h3.label", t("legend")), h("dl.keys", marks.map((one) => h("div", h("dt", mark(one)), h("dd", t(`about_${one}`))))));
  $("help").setAttribute("aria-labelledby", "help-title");
  $("help").showModal();
}
