// Scenarios on and off and by phase, the rules in force, and one of your own.

import { button, calmly, div, element, field, keepingFocus, refill, span } from "./element.js";
import { counted } from "./format.js";

const OFTEN = 700;
const EXAMPLE = `description: The second stream breaks off after three tokens.
rules:
  - when: {stream: true}
    reply: One two three four five.
    faults: [{kind: cut, after: 3}]
`;

export class ScenariosView {
  title = "Scenarios";
  #control;
  #toast;
  #texts = new Map();
  #seen = "";
  #filter = element("input", {
    type: "search",
    placeholder: "Filter: reset, 429, tool…",
    "aria-label": "Filter scenarios",
    oninput: () => this.#draw(),
  });
  #on = div({ class: "scenarios" });
  #off = div({ class: "scenarios" });
  #rules = div({ class: "rules" });
  #state = { scenarios: [], rules: [] };

  constructor({ control, exchanges, toast }) {
    this.#control = control;
    this.#toast = toast;
    // Requests use rules up and lead from phase to phase.
    const look = calmly(() => this.#place.isConnected && this.#look(), OFTEN);
    exchanges.addEventListener("exchange", look);
    exchanges.addEventListener("reset", look);
  }

  #place = div({ class: "view" });

  async show(place) {
    if (!this.#place.firstChild) {
      this.#place.append(
        div({ class: "title" }, element("h1", {}, "Scenarios"), span({ class: "grow" }), this.#filter),
        element(
          "p",
          { class: "muted" },
          "Each is a bad day of the service. What is switched on here is for every request, also those of your own front end.",
        ),
        this.#on,
        element("section", { class: "part" }, element("h2", {}, "Rules in force"), this.#rules),
        this.#own(),
        element("section", { class: "part" }, element("h2", {}, "All others"), this.#off),
      );
    }
    place.replaceChildren(this.#place);
    await this.#look();
  }

  async #look() {
    const [{ scenarios }, { rules }] = await Promise.all([
      this.#control.get("scenarios"),
      this.#control.get("rules"),
    ]);
    const seen = JSON.stringify([scenarios, rules]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#state = { scenarios, rules };
    // A switch that is turned moves to the others of its kind.
    keepingFocus(this.#place, () => this.#draw());
  }

  #draw() {
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, description }) =>
      words.every((word) => `${name} ${description}`.toLowerCase().includes(word));
    const { scenarios, rules } = this.#state;
    const opened = [...this.#place.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key);
    refill(
      this.#on,
      scenarios.filter(({ is_on: isOn }) => isOn).map((one) => this.#row(one)),
    );
    const others = scenarios.filter((one) => !one.is_on && fits(one)).map((one) => this.#row(one));
    refill(
      this.#off,
      others.length ? others : element("p", { class: "empty" }, words.length ? "None fits the filter." : "None."),
    );
    refill(
      this.#rules,
      rules.length
        ? element("ol", {}, rules.map(ruleOf))
        : element("p", { class: "empty" }, "None: the service answers by itself."),
      rules.some(({ scenario }) => scenario === null) &&
        button(
          { class: "plain", "data-key": "clear", onclick: () => this.#do(() => this.#control.delete("rules")) },
          "Forget the rules that no scenario has",
        ),
    );
    for (const key of opened) {
      this.#place.querySelector(`details[data-key="${CSS.escape(key)}"]`)?.setAttribute("open", "");
    }
  }

  #row(one) {
    const { name, is_on: isOn, phases } = one;
    const id = `about-${name}`;
    return element(
      "article",
      { class: isOn ? "scenario is-on" : "scenario" },
      button(
        {
          class: "switch",
          role: "switch",
          "aria-checked": isOn,
          "aria-label": name,
          "aria-describedby": id,
          "data-key": `switch-${name}`,
          disabled: one.complaint !== null,
          onclick: () => this.#turn(one),
        },
        span({ class: "knob" }),
      ),
      div(
        { class: "about", id },
        element("h3", {}, name),
        element("p", {}, one.description),
        one.good_client &&
          element("p", { class: "muted" }, span({ class: "label" }, "A good client: "), one.good_client),
        one.complaint && element("p", { class: "bad" }, one.complaint),
        isOn &&
          phases.length > 0 &&
          div(
            { class: "phases", role: "group", "aria-label": `Phases of ${name}` },
            phases.map((phase) =>
              button(
                {
                  "aria-pressed": phase === one.phase,
                  "data-key": `phase-${name}-${phase}`,
                  onclick: () => this.#do(() => this.#control.put(path(name), { phase })),
                },
                phase,
              ),
            ),
          ),
        this.#file(one),
      ),
    );
  }

  // The text of its file, read when somebody wants to see it.
  #file({ name }) {
    const pre = element("pre", { tabindex: 0 }, this.#texts.get(name) ?? "");
    const details = element(
      "details",
      {
        "data-key": `file-${name}`,
        ontoggle: async () => {
          if (!details.open || this.#texts.has(name)) return;
          const { text } = await this.#control.get(path(name));
          this.#texts.set(name, text ?? "It stands in no file.");
          pre.textContent = this.#texts.get(name);
        },
      },
      element("summary", {}, "File"),
      pre,
    );
    return details;
  }

  async #turn({ name, is_on: isOn }) {
    await this.#do(() => (isOn ? this.#control.delete(path(name)) : this.#control.put(path(name))));
    this.#toast(`${name} is ${isOn ? "off" : "on"}.`);
  }

  #own() {
    const text = element("textarea", {
      rows: 7,
      spellcheck: "false",
      value: EXAMPLE,
      "aria-label": "Text of the scenario",
    });
    const name = element("input", {
      value: "my-own",
      "aria-label": "Name of the scenario",
      pattern: "[a-z0-9._\\-]{1,64}",
    });
    const said = element("p", { class: "bad", role: "alert" });
    const begin = async () => {
      said.textContent = "";
      try {
        await this.#control.put(path(name.value), { text: text.value });
        this.#texts.delete(name.value);
        this.#toast(`${name.value} is on.`);
      } catch (error) {
        said.textContent = error.message;
      }
      await this.#look();
    };
    return element(
      "details",
      { class: "part own" },
      element("summary", {}, "One of your own"),
      field("Text, in the words of scenario files", text),
      div(
        { class: "line" },
        field("Name", name),
        button({ class: "main-button", onclick: begin }, "Switch it on"),
      ),
      said,
    );
  }

  async #do(act) {
    try {
      await act();
    } catch (error) {
      this.#toast(error.message, "bad");
    }
    await this.#look();
  }
}

const path = (name) => `scenarios/${encodeURIComponent(name)}`;

function ruleOf(rule) {
  const used =
    rule.times === null
      ? `used ${counted(rule.used, "time")}`
      : `used ${rule.used} of ${counted(rule.times, "time")}`;
  const isUsedUp = rule.times !== null && rule.used >= rule.times;
  return element(
    "li",
    { class: isUsedUp ? "used-up" : "" },
    span({ class: "quote" }, rule.description),
    " ",
    rule.faults.map((fault) => span({ class: "tag bad" }, fault)),
    rule.answer !== null && span({ class: "tag" }, rule.answer),
    rule.rate < 1 && span({ class: "tag" }, `rate ${rule.rate}`),
    span({ class: "muted small" }, used),
  );
}
