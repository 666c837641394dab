// Responses, in every way in which OpenAI's client offers them.
import { z } from "zod";
import { asked, gather, tell } from "./exchange.mjs";

const { default: OpenAI } = await import(asked.client);
const { zodTextFormat } = await import(`${asked.client}/helpers/zod`);
const client = new OpenAI({ maxRetries: 0 });
const { request, tool } = asked;

const whole = await client.responses.create(request);
const events = await gather(await client.responses.create({ ...request, stream: true }));

const kinds = [];
const helper = client.responses.stream(request);
helper.on("event", (event) => kinds.push(event.type));
const final = await helper.finalResponse();

const Trip = z.object({ city: z.string(), days: z.int().min(1).max(9), stops: z.array(z.string()) });
const parsed = await client.responses.parse({ ...request, text: { format: zodTextFormat(Trip, "trip") } });
const called = await client.responses.create({ ...request, tools: [tool], tool_choice: "required" });

tell({
  whole,
  text: whole.output_text,
  requestId: whole._request_id,
  events,
  helper: { kinds, final },
  parsed: parsed.output_parsed,
  called,
});
