// An exchange as something to paste elsewhere: a command, a test, a scenario.

import { button, div, element, span } from "./element.js";

const FORMS = [
  ["curl", "curl", "Copied as a command for a shell."],
  ["pytest", "pytest test", "Copied as a test: save it as test_copied.py."],
  ["scenario", "scenario rule", "Copied as a scenario: save it as scenarios/NAME.yaml."],
];

export class Copying {
  #control;
  #toast;
  #panel = div({ class: "panel", hidden: true });

  constructor(control, toast) {
    this.#control = control;
    this.#toast = toast;
  }

  buttons(exchange) {
    return div(
      { class: "copies", role: "group", "aria-label": "Copy this exchange" },
      span({ class: "muted" }, "Copy as"),
      FORMS.map(([form, label, told]) =>
        button({ "data-key": `copy-${form}`, onclick: () => this.#copy(exchange, form, told) }, label),
      ),
    );
  }

  // Where the copied text can be seen.
  panel(exchange) {
    if (this.#panel.dataset.number !== String(exchange.number)) {
      this.#panel.hidden = true;
      this.#panel.dataset.number = exchange.number;
    }
    return this.#panel;
  }

  async #copy(exchange, form, told) {
    try {
      const copies = await this.#control.get(`copies/${exchange.number}`);
      const text = copies[form];
      if (text === null) throw new Error(`It cannot be copied: ${copies.complaint}.`);
      this.#panel.replaceChildren(
        button(
          {
            class: "plain close",
            "aria-label": "Close the copied text",
            onclick: () => {
              this.#panel.hidden = true;
            },
          },
          "✕",
        ),
        element("pre", { tabindex: 0, class: "copied" }, text),
      );
      this.#panel.hidden = false;
      this.#toast(
        (await written(text)) ? told : "The browser keeps its clipboard to itself: copy the text below.",
      );
    } catch (error) {
      this.#toast(error.message, "bad");
    }
  }
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
