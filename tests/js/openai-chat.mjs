// Chat, completions and the list of models, in every way in which OpenAI's client offers them.
import { z } from "zod";
import { asked, gather, tell } from "./exchange.mjs";

const { default: OpenAI } = await import(asked.client);
const { zodResponseFormat } = await import(`${asked.client}/helpers/zod`);
const client = new OpenAI({ maxRetries: 0 });
const { chat, prompt, tool } = asked;
const options = { stream_options: { include_usage: true } };

const whole = await client.chat.completions.create(chat);
const chunks = await gather(await client.chat.completions.create({ ...chat, ...options, stream: true }));

const pieces = [];
const helper = client.chat.completions.stream({ ...chat, ...options });
helper.on("content", (piece) => pieces.push(piece));
const final = await helper.finalChatCompletion();
const usage = await helper.totalUsage();

const Trip = z.object({ city: z.string(), days: z.int().min(1).max(9), stops: z.array(z.string()) });
const parsed = await client.chat.completions.parse({ ...chat, response_format: zodResponseFormat(Trip, "trip") });

const calls = [];
const run = client.chat.completions.runTools({
  ...chat,
  tools: [
    {
      type: "function",
      function: {
        ...tool,
        parse: JSON.parse,
        function: (values) => {
          calls.push(values);
          return "Sunny.";
        },
      },
    },
  ],
  tool_choice: { type: "function", function: { name: tool.name } },
});
await run.done();

const raw = await client.completions.create(prompt);
const models = await gather(client.models.list());

tell({
  whole,
  requestId: whole._request_id,
  chunks,
  helper: { pieces, final, usage },
  parsed: parsed.choices[0].message.parsed,
  run: { calls, messages: run.messages },
  raw,
  models,
});
