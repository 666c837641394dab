// The answer in its pieces: which of them went out, and how likely each was.

import { div, element, span } from "./element.js";
import { piecesOf } from "./reasons.js";
import { Tokens } from "./tokens.js";

export function answerOf(exchange) {
  if (exchange.choices.length === 0) return element("p", { class: "empty" }, "Nothing was said.");
  const total = piecesOf(exchange);
  let left = exchange.is_over || exchange.is_streamed ? exchange.pieces_sent : total;
  const many = exchange.choices.length > 1;
  return exchange.choices.map((choice) => {
    const take = (count) => {
      const sent = Math.min(count, left);
      left -= sent;
      return sent;
    };
    // Where the answer broke off: behind the last piece that went out, unless that was the last of all.
    const breaks = (sent, count) => exchange.pieces_sent < total && sent < count && (left === 0 || sent > 0);
    const reasoning = take(choice.reasoning.length);
    const text = take(choice.text.length);
    const calls = take(choice.tool_calls.length);
    const breaksInReasoning = breaks(reasoning, choice.reasoning.length);
    return div(
      { class: "choice" },
      many && element("h3", {}, `Choice ${choice.index}`),
      choice.prompt_tokens.length > 0 && [
        element("h3", {}, "Prompt as it was scored"),
        new Tokens(
          choice.prompt_tokens.map(({ token }) => token),
          { scored: choice.prompt_tokens },
        ).place,
      ],
      choice.reasoning.length > 0 &&
        new Tokens(choice.reasoning, { sent: reasoning, breaks: breaksInReasoning, kind: "reasoning" }).place,
      choice.text.length > 0 &&
        new Tokens(choice.text, {
          sent: text,
          breaks: !breaksInReasoning && breaks(text, choice.text.length),
          scored: choice.tokens,
        }).place,
      choice.tool_calls.map((call, at) =>
        div(
          { class: `call ${at < calls ? "" : "unsent"}` },
          span({ class: "tag" }, "calls"),
          element("code", {}, `${call.name}(${call.arguments})`),
        ),
      ),
      element(
        "p",
        { class: "muted small" },
        "Ends by ",
        element("code", {}, choice.finish_reason),
        exchange.pieces_sent < total && exchange.is_over && " – what is pale never went out.",
      ),
    );
  });
}
