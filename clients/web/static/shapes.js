// One node as a drawing: what it is and how it stands is told by shape and word; colour only helps.
//
//   place   circle: ○ unknown  ◐ claimed  ◉ satisfied  ● with a tick verified  ⊗ invalidated
//           goal: a second ring; open question: "?"; gate: a barred square, bars up when open
//   step    bar: hollow idle, thick edge ready, solid active, grey done, crossed failed,
//           struck out when set aside; two bars when there are steps inside

import { s, shown } from "./dom.js";
import { t } from "./words.js";

export const COLUMN = 132; // world units between neighbouring columns
export const LANE = 138;
const R = 15;
const BAR = { w: 11, h: 44 };
const LABEL = { near: [19, 3], mid: [19, 2], far: [19, 2] }; // characters a line, lines
const LINE = { near: 16, mid: 15, far: 14 };

export const at = (one) => [one.column * COLUMN, one.lane * LANE];
export const isStep = (one) => "intent" in one;
export const isDead = (one) => one.state === "retired" || one.state === "superseded";

/** Everything that stands about a node, for people who hear the page. */
export function spoken(one, token) {
  const marks = ["tension", "pinned", "shell", "provisional"].filter((name) => one[name]).map((name) => t(name));
  const words = isStep(one)
    ? [t(one.type), one.intent, t(one.state), one.enabled && one.state !== "active" ? t("enabled") : null]
    : [t(one.type), one.label, one.gate ? t(one.gate) : t(one.standing)];
  return [...words, ...marks, token ? t("token_here") : null, t(one.band)].filter(Boolean).join(", ");
}

export function drawNode(one) {
  return isStep(one) ? drawStep(one) : drawPlace(one);
}

function drawPlace(one) {
  const shape = one.gate ? gate(one) : circle(one);
  const below = one.gate ? R + 18 : R + 17;
  return [shape, ...label(one.label, one.band, below, 1)];
}

function circle(one) {
  const ring = s("circle.ring", { r: R });
  const inside = {
    claimed: () => s("path.fill", { d: `M0 ${-R}A${R} ${R} 0 0 0 0 ${R}Z` }),
    satisfied: () => s("circle.fill", { r: R - 6 }),
    verified: () => [s("circle.fill", { r: R }), s("path.tick", { d: "M-6 0.5L-2 5L6.5 -5" })],
    invalidated: () => s("path.cross", { d: "M-6 -6L6 6M6 -6L-6 6" }),
    unreachable: () => s("path.cross", { d: `M${-R * 0.7} ${R * 0.7}L${R * 0.7} ${-R * 0.7}` }),
  }[one.standing];
  const question = one.type === "InformationNeed" && (one.standing === "unknown" || one.standing === "satisfied");
  return s("g.shape",
    one.type === "Goal" ? s("circle.ring.outer", { r: R + 5 }) : null,
    ring,
    inside?.(),
    question && one.standing === "unknown" ? s("text.glyph", { "text-anchor": "middle", y: 5 }, "?") : null,
  );
}

function gate(one) {
  const low = one.gate === "open" ? -3 : 12;
  const bars = [-8, 0, 8].map((x) => s("path.bar", { d: `M${x} -13V${low}` }));
  const cross = one.gate === "blocked" ? s("path.cross", { d: "M-7 -7L7 7M7 -7L-7 7" }) : null;
  return s("g.shape", s("path.ring.door", { d: "M-14 15V-14H14V15" }), bars, cross);
}

function drawStep(one) {
  const [w, h] = [BAR.w, BAR.h];
  const bars = one.shell ? [-8, 8] : [0];
  const top = -h / 2;
  return [
    s("g.shape",
      one.state === "active" ? s("rect.halo", { x: -w / 2 - 6, y: top - 6, width: w + 12, height: h + 12, rx: 9 }) : null,
      bars.map((x) => s("rect.body", { x: x - w / 2, y: top, width: w, height: h, rx: 2.5 })),
      one.state === "failed" ? s("path.cross", { d: "M-9 -9L9 9M9 -9L-9 9" }) : null,
      one.type === "AskHuman" ? s("text.glyph", { "text-anchor": "middle", x: 14, y: 5, "aria-hidden": "true" }, "☺") : null,
    ),
    one.tension ? tension(w / 2 + 9, top + 2) : null,
    one.pinned ? s("path.pin", { d: `M${-w / 2 - 12} ${top - 2}h8v8h-8z` }) : null,
    ...label(one.intent, one.band, top - 12, -1, isDead(one)),
  ];
}

function tension(x, y) {
  return s("g.tension", { transform: `translate(${x} ${y})` },
    s("path", { d: "M0 -9L9 0L0 9L-9 0Z" }), s("text", { "text-anchor": "middle", y: 4.5, "aria-hidden": "true" }, "!"));
}

/** Lines of a label, downwards from y, or upwards where `way` is -1. */
function label(text, band, y, way, struck = false) {
  const [width, most] = LABEL[band] ?? LABEL.far;
  const lines = wrapped(shown(text), width, most);
  const first = way > 0 ? y : y - (lines.length - 1) * LINE[band];
  return lines.map((line, index) =>
    s(`text.label${struck ? ".struck" : ""}`, { "text-anchor": "middle", y: first + index * LINE[band] }, line));
}

/** Broken at spaces, or between Chinese characters; wide characters count double. */
export function wrapped(text, width, most) {
  const units = text.match(/[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+|\s+/gu) ?? [];
  const lines = [""];
  for (const unit of units) {
    const last = lines[lines.length - 1];
    if (columns(last + unit.trimEnd()) <= width || !last) lines[lines.length - 1] = (last + unit).trimStart();
    else lines.push(unit.trimStart());
  }
  const kept = lines.map((line) => line.trimEnd()).filter(Boolean).map((line) => clipped(line, width + 4));
  if (kept.length <= most) return kept;
  return [...kept.slice(0, most - 1), clipped(`${kept[most - 1]} ${kept[most]}`, width)];
}

const columns = (text) => [...text].reduce((sum, char) => sum + (char > "\u2e7f" ? 2 : 1), 0);

function clipped(text, width) {
  if (columns(text) <= width) return text;
  let kept = "";
  for (const char of text) {
    if (columns(kept + char) > width - 1) break;
    kept += char;
  }
  return kept.trimEnd() + "…";
}

/**
 * An arc in straight runs with round corners, out at the right and in at the left, so that it
 * keeps clear of labels; one that leads back runs below everything between.
 */
export function arcPath(from, to) {
  const [[x1, y1], [x2, y2]] = [at(from), at(to)];
  const [start, end] = [x1 + reach(from), x2 - reach(to) - 3];
  if (x2 <= x1) {
    const low = Math.max(y1, y2) + LANE / 2;
    return run([start, y1], [x1 + COLUMN / 2 - 44, y1], [x1 + COLUMN / 2 - 44, low], [x2 - COLUMN / 2, low], [x2 - COLUMN / 2, y2], [end, y2]);
  }
  if (y1 === y2 && x2 - x1 <= COLUMN * 1.5) return run([start, y1], [end, y2]);
  if (y1 === y2) {
    const low = y1 + LANE / 2 - 6; // past the nodes between
    return run([start, y1], [x1 + COLUMN / 2, y1], [x1 + COLUMN / 2, low], [x2 - COLUMN / 2, low], [x2 - COLUMN / 2, y2], [end, y2]);
  }
  const turn = isStep(from) ? x1 + COLUMN / 2 : x2 - COLUMN / 2;
  return run([start, y1], [turn, y1], [turn, y2], [end, y2]);
}

/** A polyline whose corners are rounded. */
function run(...points) {
  let d = `M${points[0]}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [before, corner, after] = [points[i - 1], points[i], points[i + 1]];
    const r = Math.min(CORNER, far(before, corner) / 2, far(corner, after) / 2);
    d += `L${toward(corner, before, r)}Q${corner} ${toward(corner, after, r)}`;
  }
  return `${d}L${points[points.length - 1]}`;
}

const CORNER = 16;
const far = ([x1, y1], [x2, y2]) => Math.abs(x1 - x2) + Math.abs(y1 - y2);
const toward = ([x, y], [tx, ty], r) => [x + Math.sign(tx - x) * r, y + Math.sign(ty - y) * r];
const reach = (one) => (isStep(one) ? BAR.w / 2 + (one.shell ? 8 : 0) + 2 : one.type === "Goal" ? R + 6 : R + 1);
