// A small playground: a question in any dialect, and the answer as it comes.

import { button, choice, div, element, field, offer, span } from "./element.js";
import { DIALECTS, keyHeaderOf, modelsOf } from "./dialects.js";
import { eventsOf } from "./events.js";
import { laidOut, span as spanOf } from "./format.js";
import { Pace } from "./pace.js";
import { Tokens } from "./tokens.js";

const ARRIVES_WITHIN = 1500;

export class PlaygroundView {
  title = "Playground";
  #page;
  #place = null;
  #models = [];
  #keys = new Map();
  #stop = null;
  // The body as somebody has written it by hand, which counts then.
  #isByHand = false;

  constructor(page) {
    this.#page = page;
    this.pace = new Pace(page);
  }

  async show(place) {
    const { control } = this.#page;
    const [{ models }, { accounts }] = await Promise.all([
      control.get("models"),
      control.get("accounts"),
      this.pace.look(),
    ]);
    this.#models = models;
    if (this.#place === null) this.#build();
    offer(
      this.account,
      accounts.map(({ name }) => name),
    );
    this.#offer();
    place.replaceChildren(this.#place);
    this.text.focus({ preventScroll: true });
  }

  #build() {
    const write = () => this.#write();
    this.dialect = choice(
      DIALECTS.map(({ name }, at) => [at, name]),
      { onchange: () => this.#offer() },
    );
    this.model = choice([], { onchange: write });
    this.account = choice([]);
    this.tokens = element("input", { inputmode: "numeric", placeholder: "no limit", oninput: write });
    this.stream = element("input", { type: "checkbox", checked: true, onchange: write });
    this.scores = element("input", { type: "checkbox", onchange: write });
    this.text = element("textarea", {
      rows: 3,
      value: "Tell me about the sea, please.",
      oninput: write,
      "aria-label": "Prompt",
    });
    this.body = element("textarea", {
      rows: 10,
      spellcheck: "false",
      "aria-label": "Body of the request",
      oninput: () => this.#byHand(true),
    });
    this.note = element("p", { class: "muted small" });
    this.send = button({ class: "main-button", onclick: () => this.#ask() }, "Send");
    this.halt = button({ disabled: true, onclick: () => this.#stop?.abort() }, "Stop");
    this.told = element("p", { class: "told", role: "status" });
    this.answer = div({ class: "spoken", tabindex: 0, "aria-label": "Answer" });
    this.#place = div(
      { class: "view playground" },
      div({ class: "title" }, element("h1", {}, "Playground")),
      element(
        "form",
        {
          class: "ask",
          onsubmit: (event) => event.preventDefault(),
          onkeydown: (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#ask();
          },
        },
        div(
          { class: "line" },
          field("Dialect", this.dialect),
          field("Model", this.model),
          this.pace.place,
          field("Account", this.account),
          field("Most tokens", this.tokens),
        ),
        field("Prompt", this.text),
        div(
          { class: "line" },
          this.send,
          this.halt,
          element("label", { class: "check" }, this.stream, "Stream"),
          element("label", { class: "check" }, this.scores, "Log probabilities"),
          span({ class: "muted small keys" }, "Ctrl + Enter sends"),
        ),
        this.note,
        element(
          "details",
          { class: "own" },
          element("summary", {}, "Body of the request"),
          this.body,
          button({ class: "plain", onclick: () => this.#byHand(false) }, "Write it by the form again"),
        ),
      ),
      this.told,
      this.answer,
    );
  }

  get #dialect() {
    return DIALECTS[Number(this.dialect.value)];
  }

  // Offer the models of the dialect, and what it can do.
  #offer() {
    const models = modelsOf(this.#dialect, this.#models);
    offer(
      this.model,
      models.map(({ id, is_available: is }) => [id, is ? id : `${id} (not available)`]),
    );
    this.stream.disabled = Boolean(this.#dialect.comesWhole);
    this.scores.disabled = !this.#dialect.canScore;
    this.note.textContent = this.#dialect.comesWhole
      ? "Answers on this route come whole: the service streams none."
      : "";
    this.#write();
  }

  #byHand(is) {
    this.#isByHand = is;
    this.#write();
  }

  #write() {
    if (this.#isByHand) return;
    const body = this.#dialect.body({
      model: this.model.value,
      text: this.text.value,
      tokens: Number(this.tokens.value) || 0,
      scores: this.scores.checked && !this.scores.disabled,
    });
    if (this.stream.checked && !this.stream.disabled) body.stream = true;
    this.body.value = laidOut(body);
  }

  async #ask() {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.halt.disabled = false;
    this.answer.replaceChildren();
    this.answer.classList.add("is-open");
    this.told.dataset.tone = "open";
    this.told.textContent = "Asked…";
    const before = this.#page.exchanges.newest?.number ?? -1;
    const began = performance.now();
    const since = () => spanOf((performance.now() - began) / 1000);
    // Whoever sends again has no use for what is still to be said of the answer before.
    const tell = (tone, text) => this.#stop === stop && this.#tell(tone, text);
    const dialect = this.#dialect;
    let status = "";
    try {
      const headers = {
        "Content-Type": "application/json",
        ...dialect.headers,
        ...keyHeaderOf(dialect, await this.#key()),
      };
      const response = await fetch(dialect.path, {
        method: "POST",
        headers,
        body: this.body.value,
        signal: stop.signal,
        cache: "no-store",
      });
      status = String(response.status);
      tell("open", `${status}, first byte after ${since()}`);
      await this.#read(dialect, response, stop.signal);
      tell(response.ok ? "good" : "odd", `${status}, over after ${since()}`);
    } catch (error) {
      const what = error.name === "AbortError" ? "Stopped" : `The answer broke off (${error.message})`;
      tell("bad", `${status ? `${status}. ` : ""}${what} after ${since()}`);
    }
    if (this.#stop !== stop) return;
    this.answer.classList.remove("is-open");
    this.halt.disabled = true;
    await this.#link(dialect, before, stop);
  }

  async #read(dialect, response, signal) {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      const text = await response.text();
      let pieces = [];
      try {
        pieces = dialect.pieces(JSON.parse(text)).filter(Boolean);
      } catch {
        // It is shown as it came.
      }
      if (response.ok && pieces.length) this.#say(pieces);
      else this.answer.append(element("pre", {}, text));
      return;
    }
    for await (const { data } of eventsOf(response)) {
      signal.throwIfAborted();
      if (data === null || data === "[DONE]") continue;
      let value;
      try {
        value = JSON.parse(data);
      } catch {
        value = null;
      }
      if (value === null || value.error) this.answer.append(element("pre", { class: "bad" }, data));
      else this.#say(dialect.pieces(value).filter(Boolean));
    }
  }

  #say(pieces) {
    for (const { kind, text } of pieces) {
      let last = this.answer.lastElementChild;
      if (last?.dataset.kind !== kind) {
        last = div({ class: `tokens ${kind}`, "data-kind": kind });
        this.answer.append(last);
      }
      last.append(text);
    }
  }

  // Point to the exchange in the list; where it has log probabilities, show its tokens.
  async #link(dialect, before, stop) {
    const { exchanges, control } = this.#page;
    const found = await arrived(exchanges, (one) => one.number > before && one.path === dialect.path);
    if (!found || this.#stop !== stop) return;
    this.told.append(
      " – ",
      element("a", { href: `#/exchanges/${found.number}` }, `exchange ${found.number} has the details`),
    );
    if (!this.scores.checked || this.scores.disabled) return;
    const { choices } = await control.get(`journal/${found.number}`);
    if (this.#stop !== stop) return;
    for (const { text, tokens } of choices) {
      if (!tokens.length) continue;
      const place = this.answer.querySelector('[data-kind="text"]');
      place?.replaceWith(
        new Tokens(text, {
          scored: tokens,
          sent: found.pieces_sent < text.length ? found.pieces_sent : text.length,
        }).place,
      );
    }
  }

  async #key() {
    const name = this.account.value;
    if (name === "default") this.#keys.set(name, (await this.#page.control.get("state")).api_key);
    else
      this.#keys.set(name, (await this.#page.control.get(`accounts/${encodeURIComponent(name)}`)).keys[0] ?? "");
    return this.#keys.get(name);
  }

  #tell(tone, text) {
    this.told.dataset.tone = tone;
    this.told.textContent = text;
  }
}

// The newest exchange of this kind, once it is over; nothing if none comes.
function arrived(exchanges, fits) {
  return new Promise((resolve) => {
    const look = () => {
      const found = exchanges.all.find(fits);
      if (!found?.is_over) return;
      exchanges.removeEventListener("exchange", look);
      resolve(found);
    };
    exchanges.addEventListener("exchange", look);
    setTimeout(() => {
      exchanges.removeEventListener("exchange", look);
      resolve(exchanges.all.find(fits));
    }, ARRIVES_WITHIN);
    look();
  });
}
