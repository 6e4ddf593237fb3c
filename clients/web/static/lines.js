// The first screen: goal, alignment, the four lines, and three more. Nothing else competes with it.

import { h, fill, $ } from "./dom.js";
import { select, view, frame } from "./store.js";
import { t } from "./words.js";

const SHAPES = { aligned: "●", lagging: "◐", diverged: "✕", pending: "○", unknown: "?" };
const FOUR = ["now", "why", "next", "watch"];
const REST = [["expected", "expected"], ["if_fails", "ifFails"], ["set_aside", "setAside"]];

/** How we know: a word in a border of its own, so that it can be told without colour. */
export const mark = (source) =>
  h(`span.mark.is-${source}`, { title: t(`about_${source}`) }, t(source));

export function drawLines() {
  const now = view();
  if (!now) return fill($("brief"));
  fill(
    $("brief"),
    h("div.star",
      h("p.label", t("north_star"), " ", mark(now.northStar.source)),
      h("h2.goal", linked(now.northStar, "star")),
      alignment(now),
      now.latestAsk ? h("p.ask", h("span.label", t("latest_ask")), " ", now.latestAsk.text) : null,
    ),
    h("div.four", FOUR.map((name) => card(name, now[name]))),
    h("dl.rest", REST.map(([name, field]) => row(name, now[field]))),
  );
}

function alignment(now) {
  const word = now.alignment;
  return h(`p.fits.is-${word}`,
    h("span.shape", { "aria-hidden": "true" }, SHAPES[word] ?? "?"),
    h("strong", t(word)),
    h("span.because", linked({ ...now.alignmentReason, text: reason(now.alignmentReason.text, word) }, "fits")),
  );
}

/** The word stands in front already. */
function reason(text, word) {
  const [first, ...rest] = text.split(/[:：]\s*/);
  return rest.length && ["yes", word, t(word)].includes(first) ? text.slice(first.length + 1).trim() : text;
}

function card(name, line) {
  return h(`section.card.is-${name}`,
    h("h3.label", t(name), " ", mark(line.source)),
    h("p.says", linked(line, name)),
    line.because ? h("p.because", line.because) : null,
  );
}

function row(name, line) {
  return h("div", h("dt.label", t(name)), h("dd", linked(line, name)));
}

/** The claim; where it is about a node, a way to the evidence for it. */
function linked(line, key) {
  const known = line.nodeId && (frame().view.scene.steps[line.nodeId] || frame().view.scene.places[line.nodeId]);
  const text = line.source === "unknown" ? h("em.unknown", line.text) : line.text;
  if (!known) return h("span", text);
  return h("button.link", { type: "button", "data-key": `line-${key}`, onclick: () => select(line.nodeId) }, text);
}
