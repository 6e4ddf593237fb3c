// Near, mid and far as stretches of the map. Which band a node is in was decided by the daemon;
// here it only becomes a border between columns.

import { COLUMN } from "./shapes.js";

const BEYOND = 100_000;

/** [{band, x1, x2}] from left to right, in world units. */
export function zones(scene) {
  const all = [...Object.values(scene.places), ...Object.values(scene.steps)];
  const token = Object.values(scene.tokens)[0];
  const here = scene.steps[token?.at] ?? scene.places[token?.at];
  if (!here) return [];
  const ahead = all.filter((one) => one.column >= here.column);
  const last = (band, least) => Math.max(least, ...ahead.filter((one) => one.band === band).map((one) => one.column));
  const nearEnd = last("near", here.column);
  const midEnd = last("mid", nearEnd);
  const start = here.column - (isNear(all, here.column - 1) ? 1 : 0);
  const end = Math.max(...all.map((one) => one.column));
  const after = (column) => (column < end ? (column + 0.5) * COLUMN : BEYOND);
  const edges = [
    ["travelled", -BEYOND, (start - 0.5) * COLUMN],
    ["near", (start - 0.5) * COLUMN, after(nearEnd)],
    ["mid", after(nearEnd), after(midEnd)],
    ["far", after(midEnd), BEYOND],
  ];
  return edges.map(([band, x1, x2]) => ({ band, x1, x2 })).filter((one) => one.x2 > one.x1);
}

const isNear = (all, column) => all.some((one) => one.column === column && one.band === "near");
