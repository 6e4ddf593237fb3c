// All sessions with state and age, what most wants a person first, and a search over all of them.

import { h, fill, $ } from "./dom.js";
import { state, set } from "./store.js";
import { get } from "./api.js";
import { t, ago } from "./words.js";

const QUIET_AFTER_MS = 10 * 60_000;
const SEARCH_AFTER_MS = 250;
const ORDER = ["waits", "error", "outage", "rate_limit", "length", "working", "quiet", "aborted", "ended"];
const SHAPES = { waits: "◆", working: "●", quiet: "◌", ended: "○", aborted: "○", error: "✕", outage: "✕", rate_limit: "✕", length: "✕" };
let hits = null;
let wanted = () => {};

/** One plain word for how a session stands. */
export function standing(row, now = Date.now()) {
  if (row.settled) return row.settled === "stop" ? "waits" : row.settled;
  return now - Date.parse(row.lastTs) > QUIET_AFTER_MS ? "quiet" : "working";
}

export function newest(list) {
  return Object.values(list).sort((a, b) => (a.lastTs < b.lastTs ? 1 : -1))[0]?.sessionId ?? null;
}

export function buildSessions(choose) {
  wanted = choose;
  let timer = 0;
  const look = (event) => {
    clearTimeout(timer);
    const text = event.target.value.trim();
    timer = setTimeout(async () => {
      hits = text ? await get("/api/search", { q: text }).catch(() => []) : null;
      drawSessions();
    }, SEARCH_AFTER_MS);
  };
  $("sessions").append(
    h("header.head", h("h2", { id: "sessions-title" }), h("button.quiet.close", { type: "button", id: "sessions-close", onclick: () => $("sessions").close() }, "✕")),
    h("input", { id: "find", type: "text", role: "searchbox", autocomplete: "off", maxlength: 200, oninput: look }),
    h("div", { id: "found" }),
  );
  $("sessions").setAttribute("aria-labelledby", "sessions-title");
  $("sessions").addEventListener("close", () => $("sessions-button").setAttribute("aria-expanded", "false"));
  $("sessions-button").addEventListener("click", openSessions);
}

export function openSessions() {
  hits = null;
  $("find").value = "";
  drawSessions();
  $("sessions").showModal();
  $("sessions-button").setAttribute("aria-expanded", "true");
  $("find").focus();
}

export function drawSessions() {
  const row = state.list[state.sessionId];
  const button = $("sessions-button");
  const word = row ? standing(row) : null;
  fill(button, row ? h("span", h(`span.shape.is-${word}`, { "aria-hidden": "true" }, SHAPES[word] ?? "○"), " ", row.project ?? row.agent, " · ", h("span.state", t(word)), h("span.age", ` ${ago(row.lastTs)}`)) : h("span", t("sessions")));
  button.setAttribute("aria-label", row ? `${t("sessions")}: ${row.project ?? row.agent}, ${t(word)}, ${ago(row.lastTs)}` : t("sessions"));
  $("sessions-title").textContent = t("sessions");
  $("sessions-close").setAttribute("aria-label", t("close"));
  $("find").placeholder = t("find");
  $("find").setAttribute("aria-label", t("find"));
  fill($("found"), hits ? found() : all());
}

function all() {
  const rank = (row) => ORDER.indexOf(standing(row));
  const rows = Object.values(state.list).sort((a, b) => rank(a) - rank(b) || (a.lastTs < b.lastTs ? 1 : -1));
  if (!rows.length) return h("p.unknown", t("no_sessions"));
  return h("ul.sessions", rows.map((row) => h("li", entry(row))));
}

function entry(row) {
  const word = standing(row);
  return h("button", { type: "button", "data-key": row.sessionId, "aria-current": row.sessionId === state.sessionId ? "true" : null, onclick: () => go(row.sessionId) },
    h("span.line", h(`span.shape.is-${word}`, { "aria-hidden": "true" }, SHAPES[word] ?? "○"), h("strong", row.title ?? t("unknown")), h("span.state", t(word))),
    h("span.because", `${row.agent}${row.project ? ` · ${row.project}` : ""} · ${ago(row.lastTs)} · ${row.sessionId}`));
}

function found() {
  if (!hits.length) return h("p.unknown", t("no_hits"));
  return h("ul.sessions", hits.map((hit, index) =>
    h("li", h("button", { type: "button", "data-key": `hit-${index}`, onclick: () => go(hit.sessionId, hit.id) },
      h("span.line", h("span.state", t(hit.what)), h("strong", hit.text)), h("span.because", `${hit.sessionId} · ${hit.id}`)))));
}

function go(sessionId, nodeId) {
  $("sessions").close();
  wanted(sessionId);
  if (nodeId) set({ selected: nodeId, drawer: "node" });
}
