// Light or dark: as the system has it, unless somebody has chosen.

import { button } from "./element.js";

const ORDER = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "○", dark: "●" };
const KEPT = "engy-mock-theme";

export function themeButton() {
  let chosen = ORDER.includes(localStorage.getItem(KEPT)) ? localStorage.getItem(KEPT) : "auto";
  const made = button({
    class: "plain",
    "data-key": "theme",
    onclick: () => {
      chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
      localStorage.setItem(KEPT, chosen);
      apply();
    },
  });
  const apply = () => {
    document.documentElement.dataset.theme = chosen;
    made.textContent = SIGNS[chosen];
    made.title = `Colours: ${chosen}`;
    made.setAttribute("aria-label", `Colours: ${chosen}`);
  };
  apply();
  return made;
}
