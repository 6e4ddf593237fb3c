// The evidence drawer: all there is about one node, from the contract down to counts. Files and
// output never come here; what was not declared is said to be unknown.

import { h, fill, $ } from "./dom.js";
import { state, node, frame, view, select, set } from "./store.js";
import { t, ago, clock } from "./words.js";
import { mark } from "./lines.js";
import { isStep } from "./shapes.js";
import { typedButtons, fold, moveEpisode, pin } from "./correct.js";
import { overview } from "./overview.js";

const OBSERVED_SHOWN = 8;

export function drawDrawer() {
  const drawer = $("drawer");
  const wanted = state.drawer === "node" && node(state.selected) ? "node" : state.drawer === "overview" ? "overview" : null;
  drawer.hidden = wanted === null;
  document.body.classList.toggle("has-drawer", wanted !== null);
  $("overview-button").setAttribute("aria-expanded", String(wanted === "overview"));
  if (!wanted) {
    delete drawer.dataset.shows;
    return fill(drawer);
  }
  const shows = wanted === "node" ? state.selected : wanted;
  const anew = drawer.dataset.shows !== shows;
  drawer.dataset.shows = shows;
  const open = new Set([...drawer.querySelectorAll("details[open]")].map((one) => one.dataset.key));
  const scroll = drawer.scrollTop;
  fill(drawer, ...(wanted === "overview" ? overview() : about(node(state.selected))));
  for (const one of drawer.querySelectorAll("details")) if (open.has(one.dataset.key)) one.open = true;
  drawer.scrollTop = anew ? 0 : scroll;
  if (anew) drawer.focus({ preventScroll: true });
}

export const closer = () =>
  h("button.quiet.close", { type: "button", "data-key": "close", onclick: () => set({ drawer: null }), "aria-label": t("close") }, "✕");

export const part = (title, ...rest) => h("section.part", h("h3.label", title), ...rest);

function about(one) {
  return isStep(one) ? aboutStep(one) : aboutPlace(one);
}

function head(one, words, name) {
  return h("header.head",
    h("p.kind", words.filter(Boolean).join(" · ")),
    h("h2", { id: "drawer-title" }, name),
    isStep(one) ? [pin(one), fold(one)] : null,
    closer(),
  );
}

function aboutStep(step) {
  const shown = view();
  const episodes = Object.values(shown.episodes).filter((one) => one.stepId === step.id).reverse();
  const words = [t(step.type), t(step.state), step.enabled && step.state !== "active" ? t("enabled") : null, t(step.band)];
  return [
    head(step, words, step.intent),
    ...shown.tensions.filter((one) => one.declared.nodeId === step.id || one.observed.nodeId === step.id).map(tension),
    step.reason ? part(t("reason"), h("p", step.reason), step.supersededBy ? successor(step.supersededBy) : null) : null,
    contract(step),
    evidence(step.evidenceIds ?? [], shown),
    troubles(episodes),
    work(episodes),
    provenance(step),
    typedButtons(step),
  ];
}

function successor(id) {
  return h("p", t("replaced_by"), ": ", toNode(id));
}

/** A way to another node, by its own words. */
export function toNode(id) {
  const one = node(id);
  return h("button.link", { type: "button", "data-key": `to-${id}`, onclick: () => select(id) }, one ? one.intent ?? one.label : id);
}

function contract(step) {
  const said = (text) => (text ? h("dd", text) : h("dd", h("em.unknown", t("unknown"))));
  const rows = [["why_now", step.whyNow], ["action", step.action]];
  return part(t("contract"), h("dl.contract",
    rows.map(([name, text]) => [h("dt", t(name)), said(text)]),
    h("dt", t("proof")), proof(step),
    h("dt", t("exit")), said(step.exitCondition),
    h("dt", t("fails_when")), said(step.failureCondition),
    h("dt", t("owner")), said(step.owner),
  ));
}

function proof(step) {
  if (!step.expected?.length) return h("dd", h("em.unknown", t("unknown")));
  return h("dd", h("ul.proof", step.expected.map((text, index) => {
    const met = step.expectedMet?.[index];
    return h(`li${met ? ".is-met" : ""}`, text, " ", h("span.state", t(met ? "shown_so_far" : "not_shown")));
  })));
}

function tension(one) {
  return h("section.part.tension",
    h("h3.label", h("span.shape", { "aria-hidden": "true" }, "◆ "), t("tension")),
    h("div.sides",
      h("div", h("p.label", t("says"), " ", mark(one.declared.source)), h("p", one.declared.text)),
      h("div", h("p.label", t("does"), " ", mark(one.observed.source)), h("p", one.observed.text)),
    ),
    h("p.because", t("resolves"), ": ", one.resolves),
  );
}

function evidence(ids, shown) {
  const found = ids.map((id) => shown.evidence[id]).filter(Boolean).reverse();
  if (!found.length) return part(t("evidence"), h("p.unknown", t("no_evidence")));
  return part(t("evidence"), h("ul.evidence", found.map((one) =>
    h("li", mark(one.level), result(one.result), h("span", one.result ? one.summary.replace(/=(pass|fail)$/, "") : one.summary), h("time", { datetime: new Date(one.at).toISOString() }, clock(one.at))))));
}

const result = (word) => (word ? h(`span.result.is-${word}`, { "aria-label": t(word) }, word === "pass" ? "✓ " : "✕ ") : null);

/** The same error, counted, instead of a list of failures. */
function troubles(episodes) {
  const counts = new Map();
  for (const one of episodes)
    for (const [sample, count] of [...(one.signatures ?? []), ...(one.refusals ?? [])])
      counts.set(sample, (counts.get(sample) ?? 0) + count);
  if (!counts.size) return null;
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return part(t("troubles"), h("ul.counts", sorted.map(([sample, count]) =>
    h("li", h("strong.count", t("times", { n: count })), h("span", sample)))));
}

function work(episodes) {
  if (!episodes.length) return part(t("episodes"), h("p.unknown", t("no_episodes")));
  return part(t("episodes"), episodes.map((one) =>
    h("details", { "data-key": one.id },
      h("summary", h(`span.result.is-${one.outcome === "ok" ? "pass" : "fail"}`, { "aria-hidden": "true" }, one.outcome === "ok" ? "✓ " : "✕ "),
        `${t(one.kind)}, ${t(one.outcome)} · ${t("calls", { n: one.calls })} · `, h("time", ago(one.endedAt))),
      one.filesRead || one.filesChanged ? h("p", t("files", { r: one.filesRead ?? 0, c: one.filesChanged ?? 0 })) : null,
      h("ul.facts", (one.facts ?? []).filter((fact) => !fact.startsWith("file:")).map(fact)),
      one.moved ? h("p.because", t("moved")) : null,
      moveEpisode(one),
    )));
}

/** What there is to show of a session without a path: its work, the newest first. */
export function observed(shown) {
  const episodes = Object.values(shown.episodes).reverse();
  return [
    h("p.unknown", t("nothing_drawn")),
    episodes.length ? h("h3.label", t("episodes")) : null,
    episodes.length ? h("ul.observed", episodes.slice(0, OBSERVED_SHOWN).map((one) =>
      h("li", h(`span.result.is-${one.outcome === "ok" ? "pass" : "fail"}`, { "aria-hidden": "true" }, one.outcome === "ok" ? "✓" : "✕"),
        h("strong", t(one.kind)), h("span", t(one.outcome)), h("span.because", t("calls", { n: one.calls })),
        h("span.because", one.signatures?.length ? one.signatures.map(([sample, count]) => `${t("times", { n: count })} ${sample}`).join(" · ") : t("files", { r: one.filesRead ?? 0, c: one.filesChanged ?? 0 })),
        h("time.because", ago(one.endedAt))))) : null,
  ];
}

function fact(text) {
  const [, what, word] = text.match(/^(.*?)(?:=(pass|fail))?$/s);
  return h("li", result(word), what);
}

function provenance(step) {
  return part(t("provenance"),
    h("p", t("by_agent", { who: step.owner ?? "main" }), step.firings ? ` · ${t("firings", { n: step.firings })}` : ""),
    h("p.id", step.id));
}

function aboutPlace(place) {
  const shown = view();
  const { arcs } = frame().view.scene;
  const into = Object.values(arcs).filter((arc) => arc.target === place.id).map((arc) => arc.source);
  const out = Object.values(arcs).filter((arc) => arc.source === place.id).map((arc) => arc.target);
  const own = Object.values(shown.evidence).filter((one) => one.targetId === place.id).map((one) => one.id);
  const list = (title, ids) => (ids.length ? part(title, h("ul.ways", ids.map((id) => h("li", toNode(id))))) : null);
  return [
    head(place, [t(place.type), place.gate ? t(place.gate) : t(place.standing), t(place.band)], place.label),
    ...shown.tensions.filter((one) => one.declared.nodeId === place.id).map(tension),
    evidence(own, shown),
    list(t("leads_in"), into),
    list(t("leads_out"), out),
    h("p.id", place.id),
    typedButtons(place),
  ];
}
