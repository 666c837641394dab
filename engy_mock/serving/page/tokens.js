// Text in its tokens; over each the mouse, or the arrow keys, show how likely it was, and what else was.

import { div, element, span } from "./element.js";
import { share, visible } from "./format.js";

const WIDTH = 280;
const GAP = 8;
const card = div({ class: "card", role: "tooltip", id: "token-card" });

export class Tokens {
  #spans = [];
  #scored = [];

  // `pieces` are the texts, `scored` their tokens with log probabilities by the number of the piece; `sent` is how
  // many of the pieces went out, and with `breaks` a mark stands behind these.
  constructor(pieces, { scored = [], sent = pieces.length, breaks = false, kind = "text" } = {}) {
    for (const one of scored) (this.#scored[one.piece] ??= []).push(one);
    this.place = div({
      class: `tokens ${kind}`,
      ...(scored.length
        ? {
            tabindex: 0,
            role: "group",
            "aria-describedby": "token-card",
            "aria-label": "Tokens: arrow keys show the log probability of each",
          }
        : {}),
    });
    pieces.forEach((piece, at) => {
      if (breaks && at === sent) this.place.append(mark());
      const made = span(
        { class: at < sent ? "token" : "token unsent", "data-doubt": doubt(this.#scored[at]) },
        piece,
      );
      this.#spans.push(made);
      this.place.append(made);
    });
    if (scored.length) this.#listen();
  }

  #listen() {
    let at = -1;
    const show = (next) => {
      this.#spans[at]?.classList.remove("is-shown");
      at = next;
      this.#spans[at]?.classList.add("is-shown");
      if (this.#scored[at]) open(this.#spans[at], this.#scored[at]);
      else close();
    };
    this.place.addEventListener("pointerover", ({ target }) => show(this.#spans.indexOf(target)));
    this.place.addEventListener("pointerleave", () => show(-1));
    this.place.addEventListener("blur", () => show(-1));
    this.place.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      show(Math.min(Math.max(at + by, 0), this.#spans.length - 1));
    });
  }
}

const mark = () =>
  span(
    { class: "break", role: "img", "aria-label": "here the answer broke off", title: "Here the answer broke off" },
    "✂",
  );

// From 0 for what was sure to 4 for a surprise; nothing where nothing is known.
function doubt(tokens) {
  const known = (tokens ?? []).map(({ logprob }) => logprob).filter((value) => value !== null);
  if (!known.length) return null;
  const worst = Math.min(...known);
  return [-0.1, -0.7, -2, -4].filter((bound) => worst < bound).length;
}

function open(at, tokens) {
  card.replaceChildren(
    ...tokens.map(({ token, logprob, top }) =>
      div(
        { class: "card-token" },
        div(
          { class: "card-head" },
          element("code", {}, visible(token)),
          logprob === null
            ? span({ class: "muted" }, "nothing precedes it")
            : [span({}, share(logprob)), span({ class: "muted" }, logprob.toFixed(4))],
        ),
        top.map(([text, value]) => bar(text, value, text === token)),
      ),
    ),
  );
  if (!card.isConnected) document.body.append(card);
  const { left, bottom, top } = at.getBoundingClientRect();
  const height = card.offsetHeight;
  const isBelow = bottom + GAP + height < innerHeight;
  card.style.left = `${Math.max(GAP, Math.min(left, innerWidth - WIDTH - GAP))}px`;
  card.style.top = `${isBelow ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
}

function close() {
  card.remove();
}

function bar(text, logprob, isIt) {
  const fill = span({ class: "fill" });
  fill.style.width = `${Math.exp(logprob) * 100}%`;
  return div(
    { class: isIt ? "bar-row is-it" : "bar-row" },
    element("code", {}, visible(text)),
    span({ class: "meter" }, fill),
    span({ class: "muted" }, logprob.toFixed(3)),
  );
}

addEventListener("hashchange", close);
addEventListener("scroll", close, true);
