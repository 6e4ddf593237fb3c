// Elements, made one by one. There is no other way for text to get onto this page: every string
// passes `shown` and ends in a text node or an attribute that cannot run anything.

const SVG = "http://www.w3.org/2000/svg";
const CHARS_MAX = 400;
// Controls, zero-width and bidi marks, tags and lone surrogates: nothing may hide or reorder text.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;
const ATTRIBUTES = new Set(
  ("class id role type for name value placeholder title lang dir hidden disabled tabindex min max step " +
    "maxlength autocomplete spellcheck datetime open method x y x1 y1 x2 y2 cx cy r rx ry d width height " +
    "points viewBox transform text-anchor marker-end patternUnits patternTransform orient refX refY " +
    "markerWidth markerHeight markerUnits preserveAspectRatio focusable").split(" "),
);

/** A string as it may be shown: one line, nothing unseen, bounded. */
export function shown(text, most = CHARS_MAX) {
  const line = String(text ?? "").normalize("NFC").replace(/\s+/g, " ").replace(UNSEEN, "�");
  return line.length > most ? line.slice(0, most - 1).trimEnd() + "…" : line;
}

/** An HTML element: h("p.note", {id: "x"}, "text", child…); null children are left out. */
export function h(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  return filled(document.createElement(tag), classes, rest);
}

/** An SVG element. */
export function s(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

function filled(element, classes, rest) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const part of rest.flat(3)) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") assign(element, part);
    else element.append(document.createTextNode(shown(part)));
  }
  return element;
}

/** Attributes from our own list; `onclick` and its like take functions and become listeners. */
export function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (!ATTRIBUTES.has(name) && !name.startsWith("aria-") && !name.startsWith("data-"))
      throw new TypeError(`attribute ${name} is not on the list`);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, typeof value === "string" ? shown(value) : String(value));
  }
  return element;
}

/** Puts these children in place of what was there; keeps the focus where an id or key tells. */
export function fill(element, ...children) {
  const active = element.contains(document.activeElement) ? document.activeElement : null;
  const key = active?.id || active?.dataset?.key;
  element.replaceChildren(...children.flat(3).filter((child) => child instanceof Node));
  if (!key || document.activeElement === active) return;
  const again = [...element.querySelectorAll("[id],[data-key]")].find(
    (one) => (one.id || one.dataset.key) === key,
  );
  again?.focus({ preventScroll: true });
}

export const $ = (id) => document.getElementById(id);
