// Messages, in every way in which Anthropic's client offers them.
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { asked, gather, tell } from "./exchange.mjs";

const client = new Anthropic({ maxRetries: 0 });
const { request, tool } = asked;

const whole = await client.messages.create(request);
const events = await gather(await client.messages.create({ ...request, stream: true }));

const heard = { texts: [], thoughts: [], signatures: [], inputs: [] };
const helper = client.messages.stream(request);
helper.on("text", (piece) => heard.texts.push(piece));
helper.on("thinking", (piece) => heard.thoughts.push(piece));
helper.on("signature", (signature) => heard.signatures.push(signature));
const final = await helper.finalMessage();

const offer = { ...request, tools: [tool], tool_choice: { type: "any" } };
const called = await client.messages.create(offer);
const calling = client.messages.stream(offer);
calling.on("inputJson", (piece) => heard.inputs.push(piece));
const calledInAStream = await calling.finalMessage();
const { id } = called.content.find((block) => block.type === "tool_use");
const answered = await client.messages.create({
  ...offer,
  tool_choice: { type: "auto" },
  messages: [
    ...request.messages,
    { role: "assistant", content: called.content },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "Sunny." }] },
  ],
});

const Trip = z.object({ city: z.string(), days: z.int(), stops: z.array(z.string()) });
const parsed = await client.messages.parse({ ...request, output_config: { format: zodOutputFormat(Trip) } });
const thoughtless = await client.messages.create({ ...request, thinking: { type: "disabled" } });
const { max_tokens: _, ...question } = request;
const counted = await client.messages.countTokens(question);

tell({
  whole,
  requestId: whole._request_id,
  events,
  helper: { ...heard, final, requestId: helper.request_id },
  tools: { called, calledInAStream, answered },
  parsed: parsed.parsed_output,
  thoughtless,
  counted,
});
