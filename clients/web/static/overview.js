// The whole session as lists: what was walked, what was set aside, what to watch, what was said.

import { h } from "./dom.js";
import { view } from "./store.js";
import { t } from "./words.js";
import { mark } from "./lines.js";
import { receipts } from "./correct.js";
import { closer, part, toNode } from "./drawer.js";

export function overview() {
  const shown = view();
  if (!shown) return [closer()];
  const [right, of] = shown.nextRecord;
  return [
    h("header.head", h("p.kind", shown.agent + (shown.project ? ` · ${shown.project}` : "")), h("h2", { id: "drawer-title" }, t("overview")), closer()),
    part(t("watches"), listed(shown.watches, (one) =>
      h("li", one.line.nodeId ? claim(one.line) : h("span", one.line.text), " ", mark(one.line.source), one.line.because ? h("span.because", ` ${one.line.because}`) : null))),
    receipts(),
    part(t("spine"), h("ol.spine", shown.spine.map((one) =>
      h(`li.is-${one.state}`, toNode(one.id), " ", h("span.state", t(one.state)))))),
    part(t("retired_list"), listed(shown.retired, (one) =>
      h("li", h("s", one.intent), " ", mark(one.by), one.reason ? h("p.because", one.reason) : null))),
    shown.plan.length ? part(t("plan_list"), listed(shown.plan, (one) => h("li", one.text, " ", h("span.state", t(one.state))))) : null,
    part(t("answers"), h("ol.answers", shown.answers.map((one) =>
      h("li", h("p.label", one.question), h("p", one.line.text, " ", mark(one.line.source)))))),
    h("p.because", of ? t("next_record", { a: right, b: of }) : null,
      shown.coverage === "full" ? null : ` ${t(`coverage_${shown.coverage}`)}${shown.coverageReason ? `: ${shown.coverageReason}` : ""}`),
  ];
}

const listed = (items, draw) => (items.length ? h("ul", items.map(draw)) : h("p.unknown", t("none")));

function claim(line) {
  const way = toNode(line.nodeId);
  way.textContent = "";
  way.append(...h("span", line.text).childNodes);
  return way;
}
