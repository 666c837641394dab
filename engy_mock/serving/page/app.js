// The page: its views, the bar above them, its keys, and what has to be said aloud.

import { AccountsView } from "./accounts.js";
import { Control } from "./control.js";
import { button, calmly, div, element, fact, span } from "./element.js";
import { Exchanges } from "./exchanges.js";
import { ExchangeView } from "./exchange.js";
import { hour } from "./format.js";
import { List } from "./list.js";
import { PlaygroundView } from "./playground.js";
import { ScenariosView } from "./scenarios.js";
import { themeButton } from "./theme.js";

const at = (id) => document.getElementById(id);
const OFTEN = 1000;
const TOAST_LASTS = 4000;

const control = new Control();
const exchanges = new Exchanges(control);
const page = { control, exchanges, toast, changed: () => look() };
const list = new List(at("list"), exchanges);

// The views by the first word behind the `#`.
const views = {
  exchanges: new ExchangeView(page),
  playground: new PlaygroundView(page),
  scenarios: new ScenariosView(page),
  accounts: new AccountsView(page),
};
const NAMES = { exchanges: "Exchanges", playground: "Playground", scenarios: "Scenarios", accounts: "Accounts" };

const links = Object.entries(NAMES).map(([name, label], place) =>
  element("a", { href: `#/${name}`, "data-view": name, title: `Key ${place + 1}` }, label),
);
at("views").append(...links);

const dot = span({ class: "dot", role: "img" });
const clock = element("a", { class: "chip", href: "#/accounts", title: "Time of the mock" });
const scenarios = element("a", { class: "chip", href: "#/scenarios", hidden: true });
at("tools").append(
  dot,
  scenarios,
  clock,
  themeButton(),
  button({ class: "plain", "data-key": "reset", title: "Make the mock as new", onclick: askToReset }, "Reset"),
  button({ class: "plain", title: "Keys (?)", "aria-label": "Keys", onclick: showKeys }, "?"),
);

async function route() {
  const [, name = "exchanges", ...rest] = (location.hash || "#/exchanges").split("/");
  const view = views[name] ?? views.exchanges;
  document.body.dataset.view = name in views ? name : "exchanges";
  document.body.classList.toggle("has-choice", name === "exchanges" && rest.length > 0);
  for (const link of links)
    link.setAttribute("aria-current", link.dataset.view === document.body.dataset.view ? "page" : "false");
  list.choose(name === "exchanges" && rest.length ? Number(rest[0]) : null);
  document.title = `${NAMES[document.body.dataset.view]}${rest.length ? ` ${rest[0]}` : ""} – engy_mock`;
  try {
    await view.show(at("main"), rest);
  } catch (error) {
    at("main").replaceChildren(element("p", { class: "empty" }, `The mock does not answer: ${error.message}`));
  }
}

// What stands in the bar, and what has gone wrong in the mock itself.
const look = calmly(async () => {
  try {
    const state = await control.get("state");
    exchanges.beginsAt(state.lost_exchanges);
    clock.textContent = `${hour(state.now)} ${state.runs ? "runs" : "stands"}`;
    scenarios.hidden = state.scenarios.length === 0;
    scenarios.textContent = state.scenarios.join(", ");
    scenarios.title = `On: ${state.scenarios.join(", ")}`;
    const notices = [...state.complaints, ...state.defects.map((one) => `The mock failed: ${one}`)];
    if (state.lost_exchanges)
      notices.push(`The journal is full: ${state.lost_exchanges} earlier exchanges have made room.`);
    at("notices").replaceChildren(...notices.map((text) => element("p", {}, text)));
  } catch {
    // The dot says that there is no connection.
  }
}, OFTEN);

let silence;
function toast(text, tone = "good") {
  at("toast").replaceChildren(div({ class: "toast-text", "data-tone": tone }, text));
  clearTimeout(silence);
  silence = setTimeout(() => at("toast").replaceChildren(), TOAST_LASTS);
}

// A dialog over the page; gives a promise of the button that closed it.
function dialog(title, content, answers) {
  return new Promise((resolve) => {
    const made = element(
      "dialog",
      {
        "aria-label": title,
        onclose: () => {
          resolve(made.returnValue);
          made.remove();
        },
      },
      element(
        "form",
        { method: "dialog" },
        element("h2", {}, title),
        content,
        div(
          { class: "line end" },
          answers.map(([value, label, kind]) => button({ type: "submit", value, class: kind }, label)),
        ),
      ),
    );
    document.body.append(made);
    made.showModal();
  });
}

async function askToReset() {
  const said = element(
    "p",
    {},
    "Journal, rules, scenarios, accounts and clock are as at the start, and answers under way break off.",
  );
  if (
    (await dialog("Make the mock as new?", said, [
      ["no", "Keep it", "plain"],
      ["yes", "Reset", "main-button"],
    ])) !== "yes"
  )
    return;
  await control.post("reset");
  toast("The mock is as new.");
  look();
}

const KEYS = [
  ["1 – 4", "the views"],
  ["j, k", "the exchange below, above"],
  ["/", "filter the list"],
  ["↑ ↓", "from row to row, in the list"],
  ["← →", "from token to token, in an answer with log probabilities"],
  ["Ctrl + Enter", "send, in the playground"],
  ["?", "these keys"],
];

function showKeys() {
  dialog(
    "Keys",
    element(
      "dl",
      { class: "facts" },
      KEYS.map(([key, what]) => fact(element("kbd", {}, key), what)),
    ),
    [["ok", "Close", "main-button"]],
  );
}

control.askForToken = (wasWrong) =>
  new Promise((resolve) => {
    const token = element("input", {
      type: "password",
      autocomplete: "current-password",
      required: true,
      "aria-label": "Control token",
    });
    dialog(
      "This mock wants its control token",
      [
        wasWrong && element("p", { class: "bad", role: "alert" }, "That is not its token."),
        element("p", {}, "It was started with --control-token."),
        token,
      ],
      [["ok", "Enter", "main-button"]],
    ).then(() => resolve(token.value));
  });

const keys = {
  j: () => list.step(1),
  k: () => list.step(-1),
  "/": () => list.filter.focus(),
  "?": showKeys,
};
Object.keys(views).forEach((name, place) => {
  keys[place + 1] = () => {
    location.hash = `#/${name}`;
  };
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isWriting = event.target.matches?.("input:not([type=checkbox]), textarea, select");
  if (isWriting) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  at("main").focus();
});
addEventListener("hashchange", route);
exchanges.addEventListener("exchange", look);
exchanges.addEventListener("reset", look);
exchanges.addEventListener("connection", () => {
  dot.dataset.tone = exchanges.isConnected ? "good" : "bad";
  dot.setAttribute("aria-label", exchanges.isConnected ? "Live" : "Not connected");
  dot.title = exchanges.isConnected ? "Live" : "Not connected: trying again";
});
exchanges.follow();
look();
route();
