// The list of exchanges, newest first: filtered, followed, walked through by arrow keys.

import { calmly, div, element, span } from "./element.js";
import { counted, money, span as spanOf, whole } from "./format.js";

const FRAME = 80;

// How an exchange went, in one word for its colour.
export function toneOf(exchange) {
  if (!exchange.is_over) return "open";
  if (
    exchange.status === 0 ||
    exchange.status >= 500 ||
    exchange.ending === "reset" ||
    exchange.ending === "closed"
  )
    return "bad";
  if (exchange.status >= 400 || exchange.ending === "left" || exchange.faults.length) return "odd";
  return "good";
}

export class List {
  #place;
  #exchanges;
  #rows = new Map();
  #stale = new Set();
  #count;
  #rowsPlace;
  #older;
  #chosen = null;
  #follows = false;
  #draw = calmly(() => requestAnimationFrame(() => this.#drawNow()), FRAME);

  constructor(place, exchanges) {
    this.#place = place;
    this.#exchanges = exchanges;
    this.filter = element("input", {
      type: "search",
      class: "filter",
      placeholder: "Filter: model, 429, reset, words…",
      "aria-label": "Filter exchanges",
      oninput: this.#draw,
    });
    this.follow = element("input", { type: "checkbox", onchange: () => this.#followOn() });
    this.#count = span({ class: "muted" });
    this.#rowsPlace = element("ol", { class: "rows", onkeydown: (event) => this.#walk(event) });
    this.#older = element(
      "button",
      { type: "button", class: "older", hidden: true, onclick: () => this.#fetchOlder() },
      "Show older exchanges",
    );
    place.append(
      div(
        { class: "list-head" },
        this.filter,
        div(
          { class: "list-line" },
          element("label", { class: "check" }, this.follow, "Follow the newest"),
          this.#count,
        ),
      ),
      this.#rowsPlace,
      this.#older,
    );
    exchanges.addEventListener("older", this.#draw);
    exchanges.addEventListener("total", this.#draw);
    exchanges.addEventListener("exchange", ({ detail }) => {
      this.#stale.add(detail.number);
      if (this.#follows && detail.number === exchanges.newest.number) this.#go(detail.number);
      this.#draw();
    });
    exchanges.addEventListener("reset", () => {
      this.#rows.clear();
      this.#draw();
    });
    this.#drawNow();
  }

  // Mark the one that is shown.
  choose(number) {
    this.#rows.get(this.#chosen)?.firstChild.setAttribute("aria-current", "false");
    this.#chosen = number;
    const row = this.#rows.get(number);
    row?.firstChild.setAttribute("aria-current", "true");
    row?.scrollIntoView({ block: "nearest" });
  }

  // Show the one before (-1: newer) or after it (1: older).
  step(by) {
    const shown = this.#shown();
    const place = shown.findIndex((one) => one.number === this.#chosen);
    const next = shown[place < 0 ? 0 : Math.min(Math.max(place + by, 0), shown.length - 1)];
    if (next) this.#go(next.number);
  }

  #go(number) {
    location.hash = `#/exchanges/${number}`;
  }

  #followOn() {
    this.#follows = this.follow.checked;
    const newest = this.#exchanges.newest;
    if (this.#follows && newest) this.#go(newest.number);
  }

  async #fetchOlder() {
    this.#older.disabled = true;
    try {
      await this.#exchanges.fetchOlder();
    } finally {
      this.#older.disabled = false;
    }
  }

  #shown() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.#exchanges.all.filter((one) => words.every((word) => haystack(one).includes(word)));
  }

  #drawNow() {
    const shown = this.#shown();
    const total = this.#exchanges.all.length;
    const of = Math.max(total, this.#exchanges.total);
    this.#count.textContent =
      (shown.length < of ? `${whole(shown.length)} of ` : "") + counted(of, "exchange");
    const rows = shown.map((exchange) => {
      let row = this.#rows.get(exchange.number);
      if (row === undefined) {
        row = element("li", {}, rowOf(exchange, exchange.number === this.#chosen));
        this.#rows.set(exchange.number, row);
      } else if (this.#stale.has(exchange.number)) {
        // The link itself stays, so that it keeps the focus.
        row.firstChild.replaceChildren(...rowOf(exchange).childNodes);
        row.firstChild.dataset.tone = toneOf(exchange);
      }
      return row;
    });
    this.#stale.clear();
    this.#older.hidden = !this.#exchanges.hasOlder;
    sync(this.#rowsPlace, rows);
    this.#place.classList.toggle("is-empty", total === 0);
    if (this.#rows.size > 2 * total + 50) this.#rows = new Map(shown.map((one, at) => [one.number, rows[at]]));
  }

  // Arrow keys go from row to row.
  #walk(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const links = [...this.#rowsPlace.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
  }
}

const haystack = (one) =>
  [
    one.path,
    one.model,
    one.status,
    one.account,
    one.rule,
    one.error,
    ...one.faults,
    ...one.not_applied,
    one.asked,
    one.said,
    one.ending,
  ]
    .join(" ")
    .toLowerCase();

function rowOf(exchange, isChosen = false) {
  const marks = exchange.faults.map((fault) => span({ class: "tag bad" }, fault.split(" ")[0]));
  if (exchange.not_applied.length) marks.push(span({ class: "tag odd" }, "not applied"));
  if (exchange.client_left) marks.push(span({ class: "tag odd" }, "client left"));
  return element(
    "a",
    {
      href: `#/exchanges/${exchange.number}`,
      class: "row",
      "data-tone": toneOf(exchange),
      "aria-current": isChosen,
    },
    span(
      { class: "row-top" },
      span({ class: "number" }, String(exchange.number)),
      span({ class: "endpoint" }, exchange.endpoint || exchange.path),
      exchange.surface === "v5" && span({ class: "tag" }, "v5"),
      exchange.is_streamed && span({ class: "tag" }, "stream"),
      span({ class: "model" }, exchange.model ?? ""),
      span({ class: "status" }, exchange.status || "—"),
    ),
    span({ class: "row-words" }, exchange.asked || exchange.path),
    span(
      { class: "row-end" },
      marks,
      span({ class: "row-said" }, exchange.error ?? exchange.said),
      exchange.charged_micro > 0 && span({}, money(exchange.charged_micro)),
      span({}, exchange.is_over ? spanOf(exchange.seconds) : "under way"),
    ),
  );
}

// Let a place have these children, with as few changes as the common cases need: new ones on top, old ones gone.
function sync(place, rows) {
  const wanted = new Set(rows);
  for (const child of [...place.children]) if (!wanted.has(child)) child.remove();
  let at = place.firstChild;
  for (const row of rows) {
    if (row === at) at = at.nextSibling;
    else place.insertBefore(row, at);
  }
}
