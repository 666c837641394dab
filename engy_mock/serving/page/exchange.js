// One exchange with everything that is known of it: what was asked, what became of it, and why.

import { answerOf } from "./answer.js";
import { Copying } from "./copying.js";
import { calmly, div, element, fact, refill, span } from "./element.js";
import { counted, laidOut, moment, money, span as spanOf, whole } from "./format.js";
import { toneOf } from "./list.js";
import { timelineOf } from "./timeline.js";
import { reasonsOf } from "./reasons.js";

const OFTEN = 250;

export class ExchangeView {
  title = "Exchange";
  #control;
  #place = div({ class: "exchange" });
  #number = null;
  #copying;

  constructor({ control, exchanges, toast }) {
    this.#control = control;
    this.#copying = new Copying(control, toast);
    const look = calmly(() => this.#look(), OFTEN);
    exchanges.addEventListener("exchange", ({ detail }) => detail.number === this.#number && look());
    exchanges.addEventListener("reset", () => this.#number !== null && this.#look());
  }

  // The number of the exchange, or nothing for a word of welcome.
  async show(place, [number]) {
    place.replaceChildren(this.#place);
    const isOther = number !== String(this.#number);
    this.#number = number === undefined ? null : Number(number);
    if (isOther) this.#place.replaceChildren();
    if (this.#number === null) this.#place.replaceChildren(await this.#welcome());
    else await this.#look();
  }

  async #look() {
    const number = this.#number;
    if (number === null || !this.#place.isConnected) return;
    try {
      const exchange = await this.#control.get(`journal/${number}`);
      if (number === this.#number) this.#draw(exchange);
    } catch (error) {
      refill(this.#place, element("p", { class: "empty" }, error.message));
    }
  }

  #draw(exchange) {
    const opened = [...this.#place.querySelectorAll("details[open]")].map((one) => one.dataset.key);
    refill(
      this.#place,
      div(
        { class: "title" },
        element("h1", {}, `${exchange.method} ${exchange.path}`),
        span({ class: "status-chip", "data-tone": toneOf(exchange) }, statusOf(exchange)),
        span({ class: "grow" }),
        this.#copying.buttons(exchange),
      ),
      this.#copying.panel(exchange),
      factsOf(exchange),
      div(
        { class: "columns" },
        div(
          { class: "column" },
          section("why", "What happened, and why", reasonsOf(exchange)),
          section("events", "Events", timelineOf(exchange)),
          exchange.head &&
            section("head", "Head of the answer", element("pre", { tabindex: 0 }, exchange.head.trim())),
        ),
        div(
          { class: "column" },
          section("answer", "Answer", answerOf(exchange)),
          section("request", "Request", requestOf(exchange)),
        ),
      ),
    );
    for (const key of opened.filter(Boolean))
      this.#place.querySelector(`details[data-key="${CSS.escape(key)}"]`)?.setAttribute("open", "");
  }

  async #welcome() {
    const { api_key: key } = await this.#control.get("state");
    const command =
      `curl -N ${location.origin}/v1/chat/completions \\\n  -H "Authorization: Bearer ${key}" \\\n` +
      `  -H "Content-Type: application/json" \\\n  -d '{"model": "glm-5.2", "stream": true, "messages": [{"role": "user", "content": "Hello!"}]}'`;
    return div(
      { class: "welcome" },
      element("h1", {}, "Nothing chosen"),
      element(
        "p",
        {},
        "Every request that reaches this mock appears in the list as it happens. Point a client at it:",
      ),
      element(
        "dl",
        { class: "facts" },
        fact("Base URL", element("code", {}, `${location.origin}/v1`)),
        fact("Key", element("code", {}, key)),
      ),
      element("pre", { tabindex: 0 }, command),
      element(
        "p",
        {},
        "Or ask something in the ",
        element("a", { href: "#/playground" }, "playground"),
        ", and switch on a ",
        element("a", { href: "#/scenarios" }, "scenario"),
        " that breaks the answer.",
      ),
    );
  }
}

const section = (key, title, ...content) =>
  element("section", { class: `part part-${key}` }, element("h2", {}, title), ...content);

function statusOf(exchange) {
  if (!exchange.is_over) return `${exchange.status || "…"} under way`;
  return exchange.status ? String(exchange.status) : "no answer";
}

function factsOf(exchange) {
  const usage = exchange.usage;
  return element(
    "dl",
    { class: "facts" },
    exchange.model && fact("Model", exchange.model),
    exchange.account && fact("Account", exchange.account),
    fact("Charge", money(exchange.charged_micro)),
    usage &&
      fact("Tokens", [
        `${whole(usage.prompt_tokens)} in, ${whole(usage.completion_tokens)} out`,
        usage.cached_tokens > 0 && `, ${whole(usage.cached_tokens)} cached`,
        usage.reasoning_tokens > 0 && `, ${whole(usage.reasoning_tokens)} thought`,
      ]),
    fact("First byte", spanOf(exchange.first_seconds)),
    fact("Took", exchange.is_over ? spanOf(exchange.seconds) : "under way"),
    exchange.choices.length > 0 && fact("Sent", counted(exchange.pieces_sent, "piece")),
    fact("Mock time", moment(exchange.asked_at)),
    fact("Request id", element("code", {}, exchange.request_id)),
    fact("Plan", element("code", {}, exchange.plan)),
  );
}

function requestOf(exchange) {
  const headers = Object.entries(exchange.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  const body = exchange.body !== null ? laidOut(exchange.body) : exchange.body_text;
  return [
    headers && element("pre", { class: "quiet", tabindex: 0 }, headers),
    body ? element("pre", { tabindex: 0 }, body) : element("p", { class: "empty" }, "No body."),
    exchange.is_body_cut && element("p", { class: "muted" }, "The body was longer: this is its beginning."),
  ];
}
