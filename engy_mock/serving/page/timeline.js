// What went over the wire, event by event, each with its time.

import { button, div, element, span } from "./element.js";
import { Events } from "./events.js";
import { laidOut, span as spanOf } from "./format.js";

const SHOWN = 300;

export function timelineOf(exchange) {
  if (exchange.writes === null)
    return element("p", { class: "empty" }, "It is too long ago: what went over the wire is not kept any more.");
  const rows = rowsOf(exchange);
  const list = element("ol", { class: "timeline" }, rows.slice(0, SHOWN).map(rowOf));
  const rest = rows.slice(SHOWN);
  const more =
    rest.length > 0 &&
    button(
      {
        class: "plain",
        onclick: ({ target }) => {
          list.append(...rest.map((row, at) => rowOf(row, at + SHOWN)));
          target.remove();
        },
      },
      `Show the other ${rest.length}`,
    );
  return [list, more, exchange.is_cut && element("p", { class: "muted" }, "More was sent than is kept.")];
}

// The events of a stream, or the writes of any other answer, and how it ended.
function rowsOf(exchange) {
  const isStream = /^content-type: *text\/event-stream/im.test(exchange.head ?? "");
  const rows = [];
  const events = new Events();
  for (const { seconds, text } of exchange.writes) {
    if (isStream) rows.push(...events.push(text).map((event) => ({ seconds, ...event, ...readingOf(event) })));
    else rows.push({ seconds, raw: text, kind: "body", said: text.slice(0, 200) });
  }
  if (isStream && events.rest) {
    rows.push({
      seconds: exchange.writes.at(-1).seconds,
      raw: events.rest,
      kind: "unfinished",
      said: events.rest,
      tone: "bad",
    });
  }
  const end = { closed: "connection closed", reset: "connection reset", left: "client left" }[exchange.ending];
  if (end) rows.push({ seconds: exchange.seconds, kind: end, said: "", raw: "", tone: "bad" });
  else if (!exchange.is_over) rows.push({ seconds: null, kind: "under way", said: "", raw: "", tone: "open" });
  let before = rows[0]?.seconds ?? 0;
  for (const row of rows) {
    row.gap = row.seconds === null ? null : row.seconds - before;
    before = row.seconds ?? before;
  }
  return rows;
}

// What an event is, and what of it is worth a glance.
function readingOf({ name, data }) {
  if (data === null) return { kind: "comment", said: "", tone: "quiet" };
  if (data === "[DONE]") return { kind: "end mark", said: data, tone: "quiet" };
  let value;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: "not JSON", said: data.slice(0, 200), tone: "bad" };
  }
  if (value === null || typeof value !== "object") return { kind: name ?? "data", said: data };
  if (value.error) return { kind: name ?? "error", said: value.error.message ?? data, tone: "bad" };
  return { kind: name ?? value.type ?? "chunk", said: gist(value) };
}

function gist(value) {
  const choice = value.choices?.[0];
  if (choice) {
    const delta = choice.delta ?? {};
    const call = delta.tool_calls?.[0]?.function;
    const said =
      delta.content ||
      delta.reasoning_content ||
      choice.text ||
      (call && `${call.name ?? ""}${call.arguments ?? ""}`);
    if (said) return said;
    if (choice.finish_reason) return `finish: ${choice.finish_reason}`;
    if (delta.role) return `role: ${delta.role}`;
  }
  if (typeof value.delta === "string") return value.delta;
  const { delta } = value;
  if (delta) return delta.text ?? delta.thinking ?? delta.partial_json ?? delta.stop_reason ?? "";
  if (value.usage)
    return `usage: ${Object.entries(value.usage)
      .filter(([, one]) => typeof one === "number")
      .map(([key, one]) => `${key} ${one}`)
      .join(", ")}`;
  return "";
}

function rowOf(row, at) {
  const head = [
    span({ class: "time" }, row.seconds === null ? "" : spanOf(row.seconds)),
    span({ class: "gap" }, row.gap > 0.0005 ? `+${spanOf(row.gap)}` : ""),
    span({ class: "kind" }, row.kind),
    span({ class: "said" }, row.said.replaceAll("\n", "⏎")),
  ];
  if (!row.raw) return element("li", { "data-tone": row.tone }, div({ class: "event" }, head));
  const details = element(
    "details",
    {
      "data-key": `event-${at}`,
      "data-tone": row.tone,
      ontoggle: () => {
        if (details.open && details.children.length === 1)
          details.append(element("pre", { tabindex: 0 }, pretty(row)));
      },
    },
    element("summary", { class: "event" }, head),
  );
  return element("li", {}, details);
}

function pretty({ raw, data }) {
  try {
    return laidOut(JSON.parse(data ?? raw));
  } catch {
    return raw;
  }
}
