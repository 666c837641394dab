// Accounts with their balances, and the mock's time.

import { button, calmly, div, element, fact, field, refill, span } from "./element.js";
import { moment, money, whole } from "./format.js";

const OFTEN = 700;
const STEPS = [
  ["+1 s", 1],
  ["+1 min", 60],
  ["+1 h", 3600],
  ["+1 day", 86400],
];
const LIMITS = [
  ["max_concurrent", "At once"],
  ["requests_per_minute", "Requests a minute"],
  ["tokens_per_minute", "Tokens a minute"],
];

export class AccountsView {
  title = "Accounts and clock";
  #control;
  #toast;
  #place = div({ class: "view" });
  #accounts = div({ class: "accounts" });
  #clock = div({ class: "clock" });
  #details = new Map();
  #seen = "";

  constructor({ control, exchanges, toast, changed }) {
    this.#control = control;
    this.#toast = toast;
    this.changed = changed;
    const look = calmly(() => this.#place.isConnected && this.#look(), OFTEN);
    exchanges.addEventListener("exchange", look);
    exchanges.addEventListener("reset", look);
  }

  async show(place) {
    if (!this.#place.firstChild) {
      this.#place.append(
        div({ class: "title" }, element("h1", {}, "Accounts and clock")),
        element("section", { class: "part" }, element("h2", {}, "Time of the mock"), this.#clock),
        element("section", { class: "part" }, element("h2", {}, "Accounts"), this.#accounts, this.#opening()),
      );
    }
    place.replaceChildren(this.#place);
    await this.#look();
  }

  async #look() {
    const [{ accounts }, clock] = await Promise.all([this.#control.get("accounts"), this.#control.get("clock")]);
    const seen = JSON.stringify([accounts, clock]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#drawClock(clock);
    const opened = [...this.#accounts.querySelectorAll("details[open]")].map((one) => one.dataset.key);
    refill(
      this.#accounts,
      accounts.map((one) => this.#row(one)),
    );
    for (const key of opened)
      this.#accounts.querySelector(`[data-key="${CSS.escape(key)}"]`)?.setAttribute("open", "");
  }

  #drawClock({ now, is_wall_clock: isWall, runs }) {
    const move = (change) => this.#do(() => this.#control.patch("clock", change));
    refill(
      this.#clock,
      element("p", { class: "now" }, element("time", {}, `${moment(now)} UTC`)),
      element(
        "p",
        { class: "muted" },
        runs ? "It runs: pauses really wait." : "It stands still until it is moved: pauses take no time.",
      ),
      isWall
        ? element("p", { class: "muted" }, "It is the machine’s own, which nobody can move.")
        : div(
            { class: "line" },
            button(
              { "data-key": "runs", "aria-pressed": runs, onclick: () => move({ runs: !runs }) },
              runs ? "Let it stand" : "Let it run",
            ),
            STEPS.map(([label, seconds]) =>
              button({ "data-key": `advance-${seconds}`, onclick: () => move({ advance: seconds }) }, label),
            ),
          ),
    );
  }

  #row(one) {
    const limits = LIMITS.filter(([name]) => one[name] !== null).map(
      ([name, label]) => `${label.toLowerCase()}: ${whole(one[name])}`,
    );
    return element(
      "article",
      { class: "account" },
      div(
        { class: "account-head" },
        element("h3", {}, one.name),
        span({ class: "amount" }, money(one.available_micro)),
        span({ class: "muted" }, "available"),
      ),
      element(
        "dl",
        { class: "facts" },
        fact("Balance", money(one.balance_micro)),
        fact("Held", money(one.held_micro)),
        fact("Charged", money(one.charged_micro)),
        fact("Under way", whole(one.under_way)),
        limits.length > 0 && fact("Limits", limits.join(", ")),
      ),
      this.#change(one),
    );
  }

  // What can be changed about an account, and its keys; made when it is opened.
  #change({ name }) {
    const details = element(
      "details",
      { "data-key": `change-${name}`, ontoggle: () => details.open && this.#fill(details, name) },
      element("summary", {}, "Keys and terms"),
      this.#details.get(name),
    );
    return details;
  }

  async #fill(details, name) {
    if (this.#details.has(name)) return;
    const account = await this.#control.get(path(name));
    const micro = element("input", { inputmode: "numeric", value: "1000000", "data-key": `micro-${name}` });
    const limits = LIMITS.map(([key, label]) => [
      key,
      label,
      element("input", { inputmode: "numeric", value: account[key] ?? "", placeholder: "none" }),
    ]);
    const change = (said) => this.#do(() => this.#control.patch(path(name), said));
    const box = div(
      { class: "terms" },
      element(
        "p",
        {},
        span({ class: "label" }, "Keys "),
        account.keys.length
          ? account.keys.map((key) => element("code", { class: "key" }, key))
          : span({ class: "muted" }, "any that nobody has registered"),
      ),
      div(
        { class: "line" },
        field("Micro-USD", micro),
        button({ onclick: () => change({ deposit_micro: Number(micro.value) }) }, "Pay in"),
        button({ onclick: () => change({ balance_micro: Number(micro.value) }) }, "Set the balance"),
      ),
      div(
        { class: "line" },
        limits.map(([, label, input]) => field(label, input)),
        button(
          {
            onclick: () =>
              change(
                Object.fromEntries(
                  limits.map(([key, , input]) => [key, input.value === "" ? null : Number(input.value)]),
                ),
              ),
          },
          "Set the limits",
        ),
      ),
    );
    this.#details.set(name, box);
    details.append(box);
  }

  #opening() {
    const name = element("input", { placeholder: "poor" });
    const balance = element("input", { inputmode: "numeric", value: "50" });
    const open = () =>
      this.#do(() =>
        this.#control.post("accounts", {
          ...(name.value ? { name: name.value } : {}),
          balance_micro: Number(balance.value),
        }),
      );
    return element(
      "details",
      { class: "own" },
      element("summary", {}, "Open another account"),
      div(
        { class: "line" },
        field("Name", name),
        field("Balance in micro-USD", balance),
        button({ class: "main-button", onclick: open }, "Open it"),
      ),
    );
  }

  async #do(act) {
    try {
      await act();
      this.changed();
    } catch (error) {
      this.#toast(error.message, "bad");
    }
    await this.#look();
  }
}

const path = (name) => `accounts/${encodeURIComponent(name)}`;
