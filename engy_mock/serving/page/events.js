// Server-sent events, read from the pieces in which they come.

// Events out of texts: `push` gives those that a text completes, `rest` is what no event has come of yet.
export class Events {
  rest = "";
  #isBegun = false;
  #hasReturned = false;

  push(text) {
    // A line that a carriage return has ended does not end once more by the line feed behind it.
    this.rest += this.#hasReturned && text.startsWith("\n") ? text.slice(1) : text;
    if (text) this.#hasReturned = text.endsWith("\r");
    const found = [];
    for (let end = END.exec(this.rest); end; end = END.exec(this.rest)) {
      const raw = this.rest.slice(0, end.index + end[0].length);
      this.rest = this.rest.slice(raw.length);
      found.push({ ...eventOf(this.#isBegun ? raw : raw.replace(/^\ufeff/, "")), raw });
      this.#isBegun = true;
    }
    return found;
  }
}

// Two ends of lines next to each other, of any of the three sorts.
const END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/;

// One event: its name, and its data (null if it has none).
function eventOf(raw) {
  let name = null;
  const data = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") name = value ?? "";
    else if (field === "data") data.push(value ?? "");
  }
  return { name, data: data.length ? data.join("\n") : null };
}

// The events of a response, as they come; throws what breaks it.
export async function* eventsOf(response) {
  const events = new Events();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield* events.push(value);
  }
  if (events.rest.trim()) yield* events.push("\n\n");
}
