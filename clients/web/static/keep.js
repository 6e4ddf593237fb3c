// What this browser remembers: language and theme for good, session and rights for this tab.

const chosen = (store, key, value) => {
  if (value !== undefined) store.setItem(`wayfinder.${key}`, value);
  return store.getItem(`wayfinder.${key}`);
};
const zh = () => navigator.languages?.[0]?.toLowerCase().startsWith("zh");
const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;

export const language = (value) => chosen(localStorage, "language", value) ?? (zh() ? "zh" : "en");

/** The theme in force; with a value, chosen and put into force. */
export function theme(value) {
  const name = chosen(localStorage, "theme", value) ?? (dark() ? "dark" : "light");
  document.documentElement.dataset.theme = name;
  return name;
}

export const session = (value) => chosen(sessionStorage, "session", value);

export const grant = (said) =>
  chosen(sessionStorage, "rights", said.again ? undefined : String(said.mayCorrect)) === "true";
