// The control API of the mock, as this page may use it: with the secret that it was served with.

const HEADER = "X-Engy-Mock-Control";
const PAGE = /content="([\w-]*)" name="engy-mock-secret"/;

// What the mock does not do, with the reason that it gives.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Control {
  #secret = document.querySelector('meta[name="engy-mock-secret"]').content;
  #entering = null;

  // Asks the person who sits there for the token, again if the last one was wrong; gives a promise of it.
  askForToken = () => Promise.reject(new Refusal(401, "a control token is needed"));

  get = (path) => this.#json("GET", path);
  post = (path, body = {}) => this.#json("POST", path, body);
  put = (path, body = {}) => this.#json("PUT", path, body);
  patch = (path, body) => this.#json("PATCH", path, body);
  delete = (path) => this.#json("DELETE", path);

  // A response that is read as it comes.
  open = (path, signal) => this.#ask("GET", path, undefined, signal);

  async #json(method, path, body) {
    return (await this.#ask(method, path, body)).json();
  }

  async #ask(method, path, body, signal, isAgain = false) {
    if (!this.#secret) await this.#enter();
    const headers = { [HEADER]: this.#secret };
    if (method !== "GET") headers["Content-Type"] = "application/json";
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(`/_mock/${path}`, { method, headers, body: sent, signal, cache: "no-store" });
    if (response.ok) return response;
    if (response.status === 403 && !isAgain) {
      // Another mock, or another run of it, answers on this port now: its page has another secret.
      await this.#enter();
      return this.#ask(method, path, body, signal, true);
    }
    throw await refusalOf(response);
  }

  // Be served the page anew, for its secret; once for all that wait for it.
  #enter() {
    this.#entering ??= this.#enterNow().finally(() => {
      this.#entering = null;
    });
    return this.#entering;
  }

  // If the page has no secret, a token has to be shown first.
  async #enterNow() {
    for (let token = null; ; token = await this.askForToken(token !== null)) {
      const response = await fetch("/_mock/", { headers: token ? { [HEADER]: token } : {}, cache: "no-store" });
      this.#secret = response.ok ? (PAGE.exec(await response.text())?.[1] ?? "") : "";
      if (this.#secret) return;
    }
  }
}

async function refusalOf(response) {
  try {
    return new Refusal(response.status, (await response.json()).error.message);
  } catch {
    return new Refusal(response.status, `the mock answered with status ${response.status}`);
  }
}
