// What the page knows, in one place, and who wants to be told when it changes.
//
//   list      {session id: row}          of every session
//   live      the newest frame of the session that is looked at
//   past      a frame of an earlier moment; what is drawn, while it is set
//   selected  the id of the node whose evidence is open

const listeners = new Set();
let due = false;

export const state = {
  list: {},
  sessionId: null,
  live: null,
  past: null,
  selected: null,
  drawer: null, // null, "node" or "overview"
  waiting: [],
  proposals: [],
  mayCorrect: false,
  because: "",
  link: "connecting", // connecting, open, away, signedout, gone
  language: "en",
};

/** Changes some of it; everybody is told once, before the next paint. */
export function set(change) {
  Object.assign(state, change);
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    for (const listener of listeners) listener(state);
  });
}

export function onChange(listener) {
  listeners.add(listener);
}

/** The frame that is drawn: the past one in a replay, else the newest. */
export const frame = () => state.past ?? state.live;

/** The view with its texts in the language of the page. */
export function view() {
  const shown = frame();
  if (!shown) return null;
  return state.language === "zh" && shown.zh ? { ...shown.view, ...shown.zh } : shown.view;
}

export const node = (id) => {
  const scene = frame()?.view?.scene;
  return scene?.steps[id] ?? scene?.places[id] ?? null;
};

export function activeStep() {
  const steps = frame()?.view?.scene?.steps ?? {};
  return Object.values(steps).find((step) => step.state === "active") ?? null;
}

export function select(id) {
  set(id ? { selected: id, drawer: "node" } : { drawer: null });
}
