// The exchanges that the page knows of, kept up to date by the feed of the mock.

import { eventsOf } from "./events.js";

const KEPT = 500;
const FIRST = 200;
const PATIENCE = [300, 1000, 3000];

export class Exchanges extends EventTarget {
  #control;
  #known = new Map();
  #failures = 0;
  #instance = null;
  #first = 0;
  #room = KEPT;
  isConnected = false;

  constructor(control) {
    super();
    this.#control = control;
  }

  // Newest first.
  get all() {
    return [...this.#known.values()].reverse();
  }

  get newest() {
    return [...this.#known.values()].at(-1);
  }

  at = (number) => this.#known.get(number);

  // Whether the mock knows of exchanges before those that are here.
  get hasOlder() {
    return this.#known.size > 0 && this.#known.keys().next().value > this.#first;
  }

  // How many the mock knows of.
  get total() {
    return this.#known.size && this.newest.number + 1 - this.#first;
  }

  // Those before it have made room.
  beginsAt(number) {
    if (number === this.#first) return;
    this.#first = number;
    this.#tell("total");
  }

  // Fetch some of them.
  async fetchOlder() {
    const oldest = this.#known.keys().next().value;
    const { exchanges } = await this.#control.get(`journal?before=${oldest}&limit=${FIRST}`);
    if (this.#known.keys().next().value !== oldest) return;
    const found = exchanges.map((one) => [one.number, one]).sort(([one], [other]) => one - other);
    // Those that have gone meanwhile are not asked for again.
    this.#first = found.length ? this.#first : oldest;
    this.#room += found.length;
    this.#known = new Map([...found, ...this.#known]);
    this.#tell("older");
  }

  // Follow the feed for ever; where it breaks, begin again.
  async follow() {
    for (;;) {
      try {
        const state = await this.#control.get("state");
        const last = state.lost_exchanges + state.exchanges - 1;
        this.#first = state.lost_exchanges;
        let after = last - FIRST;
        // The same journal goes on where it was; of any other nothing is known.
        if (state.instance === this.#instance && this.newest?.number <= last) after = this.#toldUntil();
        else this.#begin(state.instance);
        this.#failures = 0;
        const response = await this.#control.open(`feed?after=${Math.max(after, -1)}`);
        this.#connect(true);
        for await (const event of eventsOf(response)) this.#take(event);
        this.#connect(false);
      } catch {
        this.#connect(false);
      }
      await new Promise((wake) => setTimeout(wake, PATIENCE[Math.min(this.#failures++, PATIENCE.length - 1)]));
    }
  }

  // The number behind which something may have become another thing.
  #toldUntil() {
    const open = [...this.#known.values()].find((one) => !one.is_over);
    return open ? open.number - 1 : this.newest.number;
  }

  #begin(instance) {
    this.#instance = instance;
    this.#known.clear();
    this.#room = KEPT;
    this.#tell("reset");
  }

  #take({ name, data }) {
    if (name === "reset") {
      this.#known.clear();
      this.#first = 0;
      this.#room = KEPT;
      this.#tell("reset");
    } else if (name === "exchange") {
      const exchange = JSON.parse(data);
      this.#known.set(exchange.number, exchange);
      if (this.#known.size > this.#room) this.#known.delete(this.#known.keys().next().value);
      this.dispatchEvent(new CustomEvent("exchange", { detail: exchange }));
    }
  }

  #connect(is) {
    this.isConnected = is;
    this.#tell("connection");
  }

  #tell(what) {
    this.dispatchEvent(new Event(what));
  }
}
