// Putting the agent right: one line, or a typed button on what is selected. What was understood is
// shown before it is sent, and what became of it after.

import { h, fill, $ } from "./dom.js";
import { state, view, node, activeStep, set } from "./store.js";
import { post, Refused } from "./api.js";
import { t, ago } from "./words.js";
import { isDead, isStep } from "./shapes.js";
import { isFolded, isOver, reopen } from "./folding.js";

const STAGES = ["sent", "in_turn", "acknowledged", "obeyed"];
const UNDERSTAND_AFTER_MS = 250;
let understood = null;
let told = null; // what came of the last one: {words(), bad, undo}
let timer = 0;

export const can = () => state.mayCorrect && !state.past && state.live;

export async function send(correction) {
  try {
    const { correction: sent, answer } = await post("/api/correct", { session: state.sessionId, ...correction });
    told = outcome(answer, sent);
  } catch (error) {
    told = { words: () => t("failed_request", { what: error instanceof Refused ? error.message : t("away") }), bad: true };
  }
  drawSay();
  $("polite").textContent = told.words();
  return !told.bad;
}

function outcome(answer, sent) {
  if (answer.reply === "taken") {
    const waits = answer.confirmed === false;
    const words = () => `«${t(`t_${sent.type}`)}» ${t(waits ? "waits_click" : "taken")}`;
    return { words, undo: waits || sent.type === "undo" ? null : sent.correctionId };
  }
  if (answer.status === "rejected") return { words: () => t("rejected", { what: answer.faults?.[0]?.expected ?? "" }), bad: true };
  if (answer.status === "conflict") return { words: () => t("conflict"), bad: true };
  return { words: () => t("refused", { what: answer.expected ?? answer.code ?? "" }), bad: true };
}

// --- one line ------------------------------------------------------------------------------------

export function buildSay() {
  const input = h("input", { id: "say-line", type: "text", name: "line", maxlength: 600, autocomplete: "off", oninput: () => typed(input.value) });
  const form = h("form", { onsubmit: submit, "aria-describedby": "say-meaning" },
    h("label.label", { for: "say-line", id: "say-label" }), h("div.row", input, h("button.primary", { type: "submit", id: "say-send" })),
    h("p", { id: "say-meaning", "aria-live": "polite" }), h("p", { id: "say-told" }));
  $("say").append(form);

  async function submit(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text || !can()) return;
    if (await send({ text })) {
      input.value = "";
      understood = null;
      drawSay();
    }
  }
}

function typed(text) {
  clearTimeout(timer);
  if (!text.trim()) {
    understood = null;
    return drawSay();
  }
  timer = setTimeout(async () => {
    try {
      understood = await post("/api/understand", { session: state.sessionId, text: text.trim() });
    } catch {
      understood = null;
    }
    drawSay();
  }, UNDERSTAND_AFTER_MS);
}

export function drawSay() {
  const open = Boolean(can());
  $("say").hidden = !state.live;
  $("say-label").textContent = t("say_label");
  $("say-line").placeholder = t("say_placeholder");
  $("say-line").disabled = !open;
  $("say-send").textContent = t("say_send");
  $("say-send").disabled = !open;
  const about = understood?.targetId ? node(understood.targetId) : null;
  fill($("say-meaning"),
    open ? null : h("span.unknown", state.past ? t("in_past") : t("only_looking")),
    open && understood ? h("span", `${t("say_as")}: `, h("strong", t(`t_${understood.type}`)),
      about ? ` ${t("say_about")} «` : "", about ? about.intent ?? about.label : "", about ? "»" : "") : null);
  fill($("say-told"),
    told ? h(`span.told${told.bad ? ".is-bad" : ""}`, told.words(), " ") : null,
    told?.undo ? undo(told.undo) : null);
}

const undo = (id) =>
  h("button.quiet", { type: "button", "data-key": `undo-${id}`, onclick: () => send({ type: "undo", targetId: id }) }, t("undo"));

// --- on what is selected --------------------------------------------------------------------------

/** What can be said of this node with one press; the words of two of them are asked for first. */
export function typedButtons(one) {
  if (!can() || (isStep(one) && isDead(one))) return null;
  const act = activeStep();
  const types = isStep(one)
    ? ["retire", "only", "gate", one.id === act?.id ? "wrong_step" : null, act && one.id !== act.id ? "supersede" : null]
    : [one.gate && one.gate !== "open" ? "open_gate" : null, one.type === "Goal" ? "goal" : null];
  const buttons = types.filter((type) => type && type !== "goal").map((type) =>
    h("button", { type: "button", "data-key": `do-${type}`, onclick: () => send(aimed(type, one, act)) }, t(`t_${type}`)));
  const wording = isStep(one) || types.includes("goal") ? rewording(one) : null;
  if (!buttons.length && !wording) return null;
  return h("section.part.actions", h("h3.label", t("say_label")), h("div.buttons", buttons), wording);
}

function aimed(type, one, act) {
  if (type === "supersede") return { type, targetId: act.id, otherId: one.id };
  return { type, targetId: one.id };
}

function rewording(one) {
  const input = h("input", { type: "text", maxlength: 200, autocomplete: "off", "data-key": "reword", "aria-label": t("words_for"), placeholder: t("words_for") });
  const submit = async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text && (await send(isStep(one) ? { type: "redescribe", targetId: one.id, text } : { type: "goal", text }))) input.value = "";
  };
  return h("form.row", { onsubmit: submit }, input, h("button", { type: "submit", "data-key": "do-redescribe" }, t(isStep(one) ? "t_redescribe" : "t_goal")));
}

export function moveEpisode(episode) {
  const steps = Object.values(view().scene.steps).filter((one) => one.id !== episode.stepId && !isDead(one));
  if (!can() || !steps.length) return null;
  const choose = (event) => event.target.value && send({ type: "reassociate", targetId: episode.id, otherId: event.target.value });
  return h("label.move", t("move_to"), " ",
    h("select", { "data-key": `move-${episode.id}`, onchange: choose },
      h("option", { value: "" }, t("choose_step")), steps.map((one) => h("option", { value: one.id }, one.intent))));
}

/** Pins are the viewer's own and change nothing of the path. */
export function pin(step) {
  if (!can()) return null;
  const toggle = () => {
    const pinned = Object.values(view().scene.steps).filter((one) => one.pinned !== (one.id === step.id)).filter((one) => one.pinned || one.id === step.id);
    void focused({ pinned: pinned.map((one) => one.id) });
  };
  return h("button.quiet", { type: "button", "data-key": "pin", "aria-pressed": String(Boolean(step.pinned)), onclick: toggle }, t(step.pinned ? "unpin" : "pin"));
}

/** The inside of a step that has one: hidden or shown, for this viewer. */
export function fold(step) {
  if (!step.shell) return null;
  const folded = isFolded(step);
  const toggle = () => {
    if (isOver(step)) {
      reopen(step, folded);
      set({});
      return;
    }
    const others = Object.values(view().scene.steps).filter((one) => one.folded && one.id !== step.id).map((one) => one.id);
    void focused({ folded: folded ? others : [...others, step.id] });
  };
  return h("button.quiet", { type: "button", "data-key": "fold", "aria-expanded": String(!folded), onclick: toggle }, t(folded ? "unfold" : "fold"));
}

/** Tells what this viewer pins and has seen; what is not given stays as it is. */
export async function focused({ pinned, folded, seenUpTo }, more = {}) {
  if (!state.mayCorrect || !state.live) return;
  const now = state.live.view;
  const steps = Object.values(now.scene.steps);
  const body = {
    session: state.sessionId,
    pinned: pinned ?? steps.filter((one) => one.pinned).map((one) => one.id),
    folded: folded ?? steps.filter((one) => one.folded).map((one) => one.id),
    seenUpTo: seenUpTo ?? now.seq,
  };
  await post("/api/focus", body, more).catch(() => null);
}

// --- what became of it ----------------------------------------------------------------------------

export function receipts() {
  const said = view().receipts;
  if (!said.length) return null;
  return h("section.part", h("h3.label", t("receipts")), h("ul.receipts", [...said].reverse().map(receipt)));
}

function receipt(one) {
  const target = one.targetId ? node(one.targetId) : null;
  const stopped = one.undone ? "undone" : ["violated", "lapsed"].includes(one.stage) ? `stage_${one.stage}` : null;
  return h(`li${one.undone ? ".is-undone" : ""}`,
    h("p", h("strong", t(`t_${one.type}`)), one.text ? `: ${one.text}` : "", target ? ` · ${target.intent ?? target.label}` : ""),
    stopped ? h(`p.stage.is-${one.stage}`, t(stopped), one.because ? ` (${t(one.because)})` : "") : stages(one),
    !one.undone && one.type !== "undo" && can() ? undo(one.correctionId) : null,
    one.at ? h("time", ago(one.at)) : null,
  );
}

function stages(one) {
  const reached = STAGES.indexOf(one.stage);
  if (reached < 0) return h("p.stage", t("stage_none"));
  return h("ol.stages", STAGES.map((stage, index) =>
    h(`li${index <= reached ? ".is-reached" : ""}`, { "aria-current": index === reached ? "step" : null }, t(`stage_${stage}`))));
}
