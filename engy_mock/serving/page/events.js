// Server-sent events, read from the pieces in which they come.

// Events out of texts: `push` gives those that a text completes, `rest` is what no event has come of yet.
export class Events {
  rest = "";

  push(text) {
    this.rest += text;
    const found = [];
    for (let end = END.exec(this.rest); end; end = END.exec(this.rest)) {
      const raw = this.rest.slice(0, end.index + end[0].length);
      this.rest = this.rest.slice(raw.length);
      found.push(eventOf(raw));
    }
    return found;
  }
}

const END = /\r\n\r\n|\n\n|\r\r/;

// One event: its name, its data (null if it has none), and the text itself.
function eventOf(raw) {
  let name = null;
  const data = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") name = value ?? "";
    else if (field === "data") data.push(value ?? "");
  }
  return { name, data: data.length ? data.join("\n") : null, raw };
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
