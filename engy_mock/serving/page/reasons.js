// Why an exchange went as it did, in sentences.

import { element, span } from "./element.js";
import { counted, span as spanOf } from "./format.js";

// How many pieces the whole answer has.
export const piecesOf = (exchange) =>
  exchange.choices.reduce((sum, one) => sum + one.reasoning.length + one.text.length + one.tool_calls.length, 0);

export function reasonsOf(exchange) {
  return element(
    "ul",
    { class: "reasons" },
    [...rows(exchange)].map(([tone, ...said]) => element("li", { "data-tone": tone }, said)),
  );
}

function* rows(exchange) {
  if (exchange.error) yield ["odd", `Refused with ${exchange.status}: `, span({ class: "quote" }, exchange.error)];
  if (exchange.rule) yield ["fact", "By ", span({ class: "quote" }, exchange.rule), "."];
  else
    yield [
      "fact",
      exchange.status >= 400
        ? "No rule took part: the service itself refused."
        : "No rule took part: what it says is its own.",
    ];
  for (const fault of exchange.faults) yield ["bad", "Changed by the fault ", element("code", {}, fault), "."];
  for (const fault of exchange.not_applied)
    yield ["odd", "The fault ", element("code", {}, fault), " found no place in it."];
  yield ending(exchange);
  for (const reason of exchange.mismatches) yield ["quiet", "Nearly: ", reason];
}

function ending(exchange) {
  const total = piecesOf(exchange);
  const sent = total ? ` after ${exchange.pieces_sent} of ${counted(total, "piece")}` : "";
  const after = exchange.seconds === null ? "" : `, ${spanOf(exchange.seconds)} after the request`;
  const last = exchange.writes?.at(-1);
  switch (exchange.ending) {
    case "whole":
      if (total > exchange.pieces_sent) return ["bad", `The answer ended in good order, but${sent}${after}.`];
      return ["good", `The answer went out whole${after}.`];
    case "closed":
      return ["bad", `The connection was closed${sent}${after}.`];
    case "reset":
      return ["bad", `The connection was reset${sent}${after}.`];
    case "left":
      return ["bad", `The client left${sent}${after}.`];
    default:
      if (exchange.is_over) return ["quiet", "It is too long ago to say how it ended."];
      return [
        "open",
        `Under way${sent}`,
        last ? `, and silent since ${spanOf(last.seconds)} after the request.` : ".",
      ];
  }
}
