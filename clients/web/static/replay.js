// Any past point of a session: ← → step, P plays, Esc leaves. The past is drawn by the same code
// from a frame of that moment, inside a frame of its own so that nobody takes it for now.

import { h, fill, $ } from "./dom.js";
import { state, set } from "./store.js";
import { get } from "./api.js";
import { t, clock } from "./words.js";

const STEP_EVERY_MS = 900;
const KEPT = 64;
let moments = [];
let index = 0;
let playing = 0;
let wanted = 0; // the newest request; an older answer is dropped
const kept = new Map();

export const on = () => state.past !== null;

export async function enter() {
  if (on() || !state.sessionId) return;
  const sessionId = state.sessionId;
  kept.clear();
  moments = await get("/api/moments", { session: sessionId }).catch(() => []);
  if (!moments.length || sessionId !== state.sessionId) return;
  await show(moments.length - 1);
  $("scrub").focus();
}

export function leave() {
  stop();
  wanted++;
  set({ past: null });
  $("replay-button").focus();
}

export const step = (by) => {
  stop();
  return show(index + by);
};

export function play() {
  if (playing) return stop();
  if (index >= moments.length - 1) index = -1;
  const next = async () => {
    await show(index + 1);
    if (index < moments.length - 1 && playing) playing = setTimeout(next, STEP_EVERY_MS);
    else stop();
  };
  playing = setTimeout(next, 0);
  draw();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  if (on()) draw();
}

async function show(to) {
  index = Math.min(Math.max(to, 0), moments.length - 1);
  const mine = ++wanted;
  const { seq } = moments[index];
  const past = kept.get(seq) ?? (await get("/api/view", { session: state.sessionId, at: seq }).catch(() => null));
  if (!past || mine !== wanted) return;
  kept.set(seq, past);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  set({ past });
}

export function drawReplay() {
  const bar = $("replay");
  bar.hidden = !on();
  document.body.classList.toggle("is-past", on());
  $("replay-button").textContent = t("replay");
  $("replay-button").disabled = !state.live || on();
  if (on()) draw();
}

function draw() {
  const moment = moments[index];
  const said = `${t("moment_of", { a: index + 1, b: moments.length })}, ${t(`m_${moment.what}`)}, ${clock(moment.ts)}`;
  const range = h("input", { id: "scrub", type: "range", min: 0, max: moments.length - 1, step: 1, value: String(index), "aria-label": t("replay_on"), "aria-valuetext": said,
    oninput: (event) => { stop(); void show(Number(event.target.value)); } });
  range.value = String(index);
  fill($("replay"),
    h("p.label", h("span", { "aria-hidden": "true" }, "↺ "), t("replay_on")),
    button("back", "←", () => step(-1)), button(playing ? "pause" : "play", playing ? "❚❚" : "▶", play), button("forth", "→", () => step(1)),
    range,
    h("p.moment", h("strong", `${index + 1}/${moments.length}`), ` ${clock(moment.ts)} · ${t(`m_${moment.what}`)}`, moment.text ? h("span", `: ${worded(moment)}`) : null),
    h("button", { type: "button", id: "leave", onclick: leave }, t("leave"), " ", h("kbd", "Esc")));
}

const worded = (moment) => (moment.what === "episode" ? moment.text.split(" ").map((word) => t(word)).join(", ") : moment.text);

const button = (name, glyph, does) =>
  h("button.quiet", { type: "button", id: `replay-${name === "pause" ? "play" : name}`, onclick: does, "aria-label": t(name) }, glyph);
