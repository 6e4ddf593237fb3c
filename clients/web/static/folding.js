// The inside of a step that is over, or that was folded, is not drawn: the step stands for it.
// Folding is this viewer's own: the log and what others see keep it.

const OVER = new Set(["completed", "failed", "retired", "superseded"]);
const opened = new Set(); // shells that are over, and that this page was asked to open again

export const isOver = (shell) => OVER.has(shell.state);
export const isFolded = (shell) => (isOver(shell) ? !opened.has(shell.id) : Boolean(shell.folded));

export function reopen(shell, open) {
  if (open) opened.add(shell.id);
  else opened.delete(shell.id);
}

/** The scene without what is folded away; the same object if nothing is. Tokens inside stand on the shell. */
export function unfolded(scene) {
  const shells = new Set(Object.values(scene.steps).filter((one) => one.shell && isFolded(one)).map((one) => one.id));
  if (!shells.size) return scene;
  const hidden = (one) => one?.parent && (shells.has(one.parent) || hidden(scene.steps[one.parent]));
  const seen = (table) => Object.fromEntries(Object.entries(table).filter(([, one]) => !hidden(one)));
  const outside = (id) => {
    const one = scene.steps[id] ?? scene.places[id];
    return hidden(one) ? outside(one.parent) : id;
  };
  const places = seen(scene.places);
  const steps = seen(scene.steps);
  const isSeen = (id) => id in places || id in steps;
  const arcs = Object.entries(scene.arcs).filter(([, arc]) => isSeen(arc.source) && isSeen(arc.target));
  const tokens = Object.entries(scene.tokens).map(([id, token]) => [id, { ...token, at: outside(token.at) }]);
  return { places, steps, arcs: Object.fromEntries(arcs), tokens: Object.fromEntries(tokens) };
}
