// The corridor: places, steps and arcs where they were born, never moved. What moves is the camera,
// which follows the token, and the borders of near, mid and far, which only say how much is drawn.
//
// Only what the camera sees is drawn, and again only if its object changed (see merge.js): a long
// session costs what changes on the screen and not what is there.

import { s, h, fill, assign, $ } from "./dom.js";
import { frame, select, state, view } from "./store.js";
import { COLUMN, LANE, arcPath, at, drawNode, isDead, isStep, spoken } from "./shapes.js";
import { Camera } from "./camera.js";
import { zones } from "./bands.js";
import { observed } from "./drawer.js";
import { unfolded } from "./folding.js";
import { t } from "./words.js";

const ARROWS = { flow: "plain", success: "plain", failure: "warn", read: null };

export class Corridor {
  constructor() {
    this.nodes = new Map(); // id → {group, drawn, here}
    this.arcs = new Map();
    this.spans = new Map(); // arc id → the stretch of the map it needs; nodes never move
    this.scene = null;
    this.cursor = null; // the one node that Tab reaches
    this.layers = Object.fromEntries(["zones", "arcs", "nodes", "labels", "tokens"].map((name) => [name, s(`g.${name}`)]));
    this.world = s("g.world", Object.values(this.layers));
    this.borders = s("g.borders", { "aria-hidden": "true" });
    this.layers.labels.setAttribute("aria-hidden", "true");
    this.svg = s("svg.corridor", { role: "group" }, arrows(), this.world, this.borders);
    this.camera = new Camera(this.svg, this.world, () => this.moved());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.tools = h("div.tools");
    this.empty = h("div.empty");
    $("path").append(this.svg, this.tools, this.empty);
  }

  draw() {
    const whole = frame()?.view?.scene;
    if (!whole) return;
    const scene = unfolded(whole);
    const anew = this.session !== state.sessionId;
    if (anew || this.language !== state.language) this.forget(anew);
    const moved = anew || this.tokens !== whole.tokens;
    this.tokens = whole.tokens;
    this.scene = scene;
    this.words();
    this.zones = zones(scene);
    fill(this.layers.zones, ...this.zones.map(zone));
    if (!this.node(this.cursor)) this.cursor = this.node(this.tokenAt()) ? this.tokenAt() : Object.keys(scene.places)[0];
    this.due ||= -1; // drawn below anyhow
    this.camera.look(bounds(scene), this.tokenSpot(), moved);
    if (this.due === -1) this.due = 0;
    this.drawSeen();
  }

  node(id) {
    return this.scene.steps[id] ?? this.scene.places[id];
  }

  /** The camera stands elsewhere: other things come into sight. */
  moved() {
    this.drawBorders();
    if (!this.scene || this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.drawSeen();
    });
  }

  drawSeen() {
    this.drawNodes();
    this.drawArcs();
    this.drawTokens();
    this.mark();
  }

  /** Everything is drawn anew: another session, or other words. */
  forget(anew) {
    for (const { group, words } of [...this.nodes.values(), ...this.arcs.values()]) {
      if (anew) group.remove();
      if (anew) words?.remove();
    }
    if (anew) {
      this.nodes.clear();
      this.arcs.clear();
      this.spans.clear();
      this.cursor = null;
    } else for (const known of this.nodes.values()) known.drawn = null;
    this.session = state.sessionId;
    this.language = state.language;
  }

  words() {
    assign(this.svg, { "aria-label": `${t("path")}. ${t("path_help")}` });
    const tool = (key, does, pressed) =>
      h("button.quiet", { type: "button", "data-key": key, onclick: does, "aria-pressed": pressed }, t(key));
    fill(this.tools,
      tool("follow", () => this.follow(), String(this.camera.following)),
      tool("whole", () => this.camera.whole()), tool("wider", () => this.camera.zoom(1 / 1.25)), tool("closer", () => this.camera.zoom(1.25)));
    const bare = Object.keys(this.scene.steps).length === 0;
    this.empty.hidden = !bare;
    this.svg.toggleAttribute("hidden", bare);
    this.tools.hidden = bare;
    fill(this.empty, ...(bare ? observed(view()) : []));
  }

  follow() {
    this.camera.follow();
    this.words();
  }

  // --- drawing ------------------------------------------------------------------------------------

  drawNodes() {
    const tokens = new Set(Object.values(this.scene.tokens).map((one) => one.at));
    const all = [...Object.entries(this.scene.places), ...Object.entries(this.scene.steps)];
    const seen = ([id, one]) => {
      const [x, y] = at(one);
      return id === this.cursor || this.camera.sees(x, x, y, y);
    };
    const wanted = Object.fromEntries(all.filter(seen));
    drop(this.nodes, wanted);
    for (const [id, one] of Object.entries(wanted)) {
      const here = tokens.has(id);
      const known = this.nodes.get(id);
      if (known?.drawn === one && known.here === here) continue;
      const group = known?.group ?? this.born(id);
      const [x, y] = at(one);
      const parts = drawNode(one).filter(Boolean);
      const says = (part) => part.matches("text.label");
      assign(group, { class: classes(one), transform: `translate(${x} ${y})`, "aria-label": spoken(one, here) });
      group.replaceChildren(s("rect.touch", touch(one)), ...parts.filter((part) => !says(part)));
      // A label may be cut short; the name of the button is whole. So it stands beside, not inside.
      const words = known?.words ?? this.layers.labels.appendChild(s("g"));
      assign(words, { class: classes(one).replace("node", "words"), transform: `translate(${x} ${y})` });
      words.replaceChildren(...parts.filter(says));
      this.nodes.set(id, { group, words, drawn: one, here, marks: known?.marks });
    }
  }

  born(id) {
    const group = s("g", { role: "button", tabindex: -1, "data-key": id, onclick: () => this.pick(id) });
    group.addEventListener("focus", () => this.point(id));
    this.layers.nodes.append(group);
    return group;
  }

  drawArcs() {
    const wanted = {};
    for (const [id, arc] of Object.entries(this.scene.arcs)) {
      const span = this.spans.get(id) ?? this.span(id, arc);
      if (span && this.camera.sees(...span)) wanted[id] = [this.node(arc.source), this.node(arc.target)];
    }
    drop(this.arcs, wanted);
    for (const [id, ends] of Object.entries(wanted)) {
      const arc = this.scene.arcs[id];
      const step = ends.find(isStep);
      const style = isDead(step) ? " is-dead" : ["completed", "active"].includes(step.state) && arc.kind !== "failure" ? " is-done" : "";
      const known = this.arcs.get(id);
      if (known?.style === style) continue;
      const path = known?.group ?? this.layers.arcs.appendChild(s("path"));
      const arrow = ARROWS[arc.kind] && (isDead(step) ? "dead" : ARROWS[arc.kind]);
      assign(path, { class: `arc is-${arc.kind}${style}`, d: arcPath(ends[0], ends[1]), "marker-end": arrow ? `url(#arrow-${arrow})` : null });
      this.arcs.set(id, { group: path, style });
    }
  }

  span(id, arc) {
    const ends = [this.node(arc.source), this.node(arc.target)];
    if (!ends[0] || !ends[1]) return null;
    const [[x1, y1], [x2, y2]] = ends.map(at);
    // A lane more: arcs that lead back run below what they pass.
    const span = [Math.min(x1, x2), Math.max(x1, x2), Math.min(y1, y2), Math.max(y1, y2) + LANE];
    this.spans.set(id, span);
    return span;
  }

  drawTokens() {
    const drawn = Object.values(this.scene.tokens).map((token) => {
      const one = this.scene.steps[token.at] ?? this.scene.places[token.at];
      if (!one) return null;
      const [x, y] = at(one);
      // Below a bar it points up, above a circle down: labels stand on the other side.
      const step = isStep(one);
      return s(`g.token.is-${token.status}`, { transform: `translate(${x} ${y + (step ? 30 : -24)})` },
        s("path", { d: step ? "M0 0L9 15H-9Z" : "M0 0L9 -15H-9Z" }),
        s("text", { "text-anchor": "middle", y: step ? 29 : -20 }, token.agent));
    });
    this.layers.tokens.replaceChildren(...drawn.filter(Boolean));
  }

  drawBorders() {
    const { width, toScreen } = this.camera;
    const labels = (this.zones ?? []).map((one) => {
      const [left, right] = [Math.max(toScreen(one.x1), 0), Math.min(toScreen(one.x2), width)];
      return right - left < 40 ? null : s(`text.is-${one.band}`, { x: left + (left ? 12 : 32), y: 20 }, t(one.band));
    });
    this.borders.replaceChildren(...labels.filter(Boolean));
  }

  tokenSpot() {
    const one = this.node(this.tokenAt());
    return one ? at(one) : [0, 0];
  }

  tokenAt() {
    return Object.values(this.scene.tokens)[0]?.at;
  }

  // --- keys and pointer ---------------------------------------------------------------------------

  mark() {
    for (const [id, known] of this.nodes) {
      const marks = `${id === this.cursor ? 0 : -1} ${state.drawer === "node" && id === state.selected}`;
      if (known.marks === marks) continue;
      known.marks = marks;
      const [tabindex, pressed] = marks.split(" ");
      assign(known.group, { tabindex, "aria-pressed": pressed });
    }
  }

  point(id) {
    this.cursor = id;
    this.mark();
    this.camera.reveal(at(this.node(id)));
  }

  pick(id) {
    this.cursor = id;
    select(id);
  }

  focus(id = this.cursor) {
    if (!this.node(id)) return;
    this.cursor = id;
    if (!this.nodes.has(id)) this.drawSeen();
    this.nodes.get(id)?.group.focus({ preventScroll: true });
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") this.pick(this.cursor);
    else if (event.key === "Home") this.focus(this.tokenAt());
    else if (way) this.focus(this.nearest(way));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The closest node that way. */
  nearest([dx, dy]) {
    const from = this.node(this.cursor);
    let best = [Infinity, this.cursor];
    for (const [id, drawn] of [...Object.entries(this.scene.places), ...Object.entries(this.scene.steps)]) {
      const [across, down] = [drawn.column - from.column, drawn.lane - from.lane];
      const ahead = dx ? across * dx : down * dy;
      const cost = ahead + 2.5 * Math.abs(dx ? down : across);
      if (id !== this.cursor && ahead > 0 && cost < best[0]) best = [cost, id];
    }
    return best[1];
  }
}

function classes(one) {
  const kind = isStep(one) ? `step is-${one.state}` : `place is-${one.standing}`;
  const more = ["enabled", "tension", "provisional"].filter((name) => one[name]).map((name) => `is-${name}`);
  const gate = one.gate ? `is-gate is-gate-${one.gate}` : one.type === "Goal" ? "is-goal" : "";
  return ["node", kind, `is-${one.band}`, ...more, gate].filter(Boolean).join(" ");
}

const touch = (one) =>
  isStep(one) ? { x: -64, y: -84, width: 128, height: 114, rx: 9 } : { x: -64, y: -26, width: 128, height: 96, rx: 9 };

function bounds(scene) {
  const all = [...Object.values(scene.places), ...Object.values(scene.steps)];
  const xs = all.map((one) => one.column * COLUMN);
  const ys = all.map((one) => one.lane * LANE);
  return { x1: Math.min(...xs) - 110, x2: Math.max(...xs) + 120, y1: Math.min(...ys) - 84, y2: Math.max(...ys) + 84 };
}

function drop(table, wanted) {
  for (const [id, { group, words }] of table) {
    if (id in wanted) continue;
    group.remove();
    words?.remove();
    table.delete(id);
  }
}

const zone = (one) => s(`rect.zone.is-${one.band}`, { x: one.x1, y: -20000, width: one.x2 - one.x1, height: 40000 });

function arrows() {
  return s("defs", ["plain", "warn", "dead"].map((name) =>
    s(`marker.arrow.is-${name}`, { id: `arrow-${name}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" },
      s("path", { d: "M0 0.5L7.5 4L0 7.5Z" }))));
}
