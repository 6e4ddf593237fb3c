// The only module that talks to the network, and only to the address this page came from.
//
// The link holds a code that works once; it is exchanged for a token, which stays in this tab's
// memory (sessionStorage, so that a reload keeps it) and goes out in a header, never in a cookie
// or an address.

const KEY = "wayfinder.token";
const RETRY_MS = [500, 1000, 2000, 5000];
const SILENT_AFTER_MS = 30_000; // the server sends a beat every ten seconds
let token = sessionStorage.getItem(KEY);

export class Refused extends Error {
  constructor(status, code, expected) {
    super(expected || code);
    this.status = status;
    this.code = code;
  }
}

/** Signs in with the code in the address, if there is one. Returns what the page may do, or null. */
export async function signIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get("c");
  if (!code) return token ? { again: true } : null;
  history.replaceState(null, "", location.pathname);
  const said = await post("/api/session", { code });
  token = said.token;
  sessionStorage.setItem(KEY, token);
  return said;
}

export function forget() {
  token = null;
  sessionStorage.removeItem(KEY);
}

export const get = (path, query = {}) =>
  answer(fetch(`${path}?${new URLSearchParams(query)}`, { headers: headers(), ...SAFE }));

export const post = (path, body, more = {}) =>
  answer(
    fetch(path, {
      method: "POST",
      headers: { ...headers(), "Content-Type": "application/json" },
      body: JSON.stringify(body),
      ...SAFE,
      ...more,
    }),
  );

const SAFE = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", cache: "no-store" };
const headers = () => (token ? { Authorization: `Bearer ${token}` } : {});

async function answer(request) {
  const response = await request;
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, said.code ?? "error", said.expected ?? "");
  return said;
}

/**
 * Reads lines of JSON for as long as it is open, and opens itself again when it breaks. `resume()`
 * says what to ask for each time; a hidden tab closes and comes back when it is seen.
 */
export class Stream {
  constructor({ resume, onLine, onLink }) {
    Object.assign(this, { resume, onLine, onLink, failures: 0, abort: null, timer: 0 });
    document.addEventListener("visibilitychange", () => this.turn());
  }

  /** Starts, or starts anew because another session is wanted. */
  turn() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = null;
    if (document.visibilityState === "visible") void this.read();
  }

  async read() {
    const abort = (this.abort = new AbortController());
    try {
      const query = new URLSearchParams(this.resume());
      const response = await fetch(`/api/stream?${query}`, { headers: headers(), signal: abort.signal, ...SAFE });
      if (response.status === 401) return this.onLink("signedout");
      if (!response.ok) throw new Refused(response.status, "stream", "");
      this.onLink("open");
      await this.lines(response.body.getReader(), abort);
    } catch {
      // told below: whatever the reason, the answer is to try again
    }
    if (this.abort !== abort) return;
    this.onLink("away");
    this.timer = setTimeout(() => this.turn(), RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
  }

  async lines(reader, abort) {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const silence = setTimeout(() => abort.abort(), SILENT_AFTER_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      this.failures = 0;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop();
      for (const line of lines) if (line) this.onLine(JSON.parse(line));
    }
  }
}
