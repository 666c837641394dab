// How fast all answers of the mock come.

import { choice, field } from "./element.js";

const PACES = [
  ["instant", "instant"],
  ["realistic", "realistic"],
  ["slow", "slow"],
  ["5", "5 tokens a second"],
  ["20", "20 tokens a second"],
  ["50", "50 tokens a second"],
];

// A choice of the pace; under a clock that stands it lets time run as well, or nobody would wait.
export class Pace {
  #control;
  #select = choice(PACES, { "data-key": "pace", onchange: () => this.#choose() });

  constructor({ control, toast, changed }) {
    this.#control = control;
    this.toast = toast;
    this.changed = changed;
    this.place = field("Pace of all answers", this.#select);
  }

  async look() {
    const { pace } = await this.#control.get("settings");
    this.place.hidden = pace === undefined;
    const value = typeof pace === "object" ? "own" : String(pace);
    if (![...this.#select.options].some((one) => one.value === value)) {
      this.#select.append(
        choice([[value, value === "own" ? "as it was started" : `${value} tokens a second`]]).firstChild,
      );
    }
    this.#select.value = value;
  }

  async #choose() {
    const { value } = this.#select;
    if (value === "own") return;
    try {
      await this.#control.patch("settings", { pace: Number(value) || value });
      const clock = await this.#control.get("clock");
      if (value !== "instant" && !clock.runs) await this.#control.patch("clock", { runs: true });
      this.toast(value === "instant" ? "Answers come at once." : "Answers take their time, and time runs.");
    } catch (error) {
      this.toast(error.message, "bad");
    }
    this.changed();
  }
}
