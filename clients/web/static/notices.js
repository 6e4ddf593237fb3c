// What wants a person before anything else: a correction that waits for a click, a proposal, the
// agent's own question, what happened since they looked, and trouble with the connection.

import { h, fill, $ } from "./dom.js";
import { state, set, view } from "./store.js";
import { get, post } from "./api.js";
import { focused, send } from "./correct.js";
import { t, ago } from "./words.js";

let since = null; // frozen when the page comes back, until it is said to be seen
let asked = -1;

export function drawNotices() {
  fill($("notices"), link(), ...state.waiting.map(waiting), asking(), ...state.proposals.map(proposal), sinceYouLooked());
  void refreshProposals();
}

/** Takes what happened while nobody looked; called with the first frame after a return. */
export function returned() {
  since = view()?.since?.length ? state.sessionId : null;
}

function link() {
  if (state.link === "signedout") return h("section.notice.is-strong", { role: "alert" }, h("h2", t("signedout")), h("p", t("signedout_do")), h("pre", "wayfinder open"));
  if (state.link === "gone") return h("section.notice", h("p", t("gone")));
  if (state.link === "away") return h("section.notice", h("p", t("away")));
  if (state.link === "open" && !Object.keys(state.list).length) return h("section.notice", h("p", t("no_sessions")));
  return null;
}

function asking() {
  return !state.past && state.live?.live?.waiting ? h("section.notice.is-strong", h("p", h("strong", t("asks_you")), ` · ${state.live.live.waiting}`)) : null;
}

function waiting(item) {
  const said = item.correction;
  const decide = (accepted) => post("/api/confirm", { correctionId: said.correctionId, accepted }).catch(() => null);
  return h("section.notice.is-strong", { "aria-label": t("waiting_title") },
    h("h2", t("waiting_title")),
    h("p", h("strong", t(`t_${said.type}`)), said.text ? `: ${said.text}` : "", said.targetId ? ` · ${said.targetId}` : ""),
    h("p.because", `${said.sessionId} · ${t("waiting_why", { why: t(item.because) })} ${ago(item.at)}`),
    state.mayCorrect ? h("div.buttons",
      h("button.primary", { type: "button", "data-key": `yes-${said.correctionId}`, onclick: () => decide(true) }, t("yes_mine")),
      h("button", { type: "button", "data-key": `no-${said.correctionId}`, onclick: () => decide(false) }, t("not_mine"))) : null,
  );
}

function proposal(one) {
  const decide = (type) => async () => {
    await send({ type, targetId: one.proposalId });
    asked = -1;
    void refreshProposals();
  };
  return h("section.notice", { "aria-label": t("proposal_title") },
    h("h2", t("proposal_title")),
    h("p.because", `${t("proposal_by", { who: one.agentId, n: one.baseRevision })} · ${ago(one.at)}`),
    h("ul.ops", one.ops.map((op) => h("li", h("strong", String(op.op).replaceAll("_", " ")), ` ${words(op)}`))),
    state.mayCorrect && !state.past ? h("div.buttons",
      h("button.primary", { type: "button", "data-key": `accept-${one.proposalId}`, onclick: decide("accept") }, t("accept")),
      h("button", { type: "button", "data-key": `reject-${one.proposalId}`, onclick: decide("reject") }, t("reject"))) : null,
  );
}

const words = (op) => [op.intent, op.label, op.reason, op.fromId && `${op.fromId} → ${op.toId}`, op.transitionId, op.placeId, op.summary, op.targetId, op.intentClass, op.alternateTransitionId].filter(Boolean).join(" · ");

/** Asked for again when the number of them that the view tells has changed. */
async function refreshProposals() {
  const count = state.live?.view?.watches.filter((one) => one.kind === "proposals").map((one) => one.line.text).join() ?? "";
  const key = `${state.sessionId} ${count}`;
  if (key === asked || !state.sessionId) return;
  asked = key;
  const found = count ? await get("/api/proposals", { session: state.sessionId }).catch(() => []) : [];
  if (key === asked && (found.length || state.proposals.length)) set({ proposals: found });
}

function sinceYouLooked() {
  const lines = since === state.sessionId && !state.past ? view()?.since ?? [] : [];
  if (!lines.length) return null;
  const seen = () => {
    since = null;
    void focused({});
    drawNotices();
  };
  return h("section.notice.since", { "aria-label": t("since_title") },
    h("h2.label", t("since_title")), h("ul", lines.map((line) => h("li", line.text))),
    h("button.quiet", { type: "button", "data-key": "seen", onclick: seen }, t("seen")));
}
