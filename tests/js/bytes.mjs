// The bodies of answers as they came, byte for byte, in base64.
import { asked, tell } from "./exchange.mjs";

const { default: OpenAI } = await import(asked.client);
const bodies = [];
const client = new OpenAI({
  maxRetries: 0,
  fetch: async (url, init) => {
    const answer = await fetch(url, init);
    const body = Buffer.from(await answer.arrayBuffer());
    bodies.push(body.toString("base64"));
    return new Response(body, answer);
  },
});
const RESOURCES = { chat: client.chat.completions, completions: client.completions, responses: client.responses };

for (const [resource, request] of asked.requests) await RESOURCES[resource].create(request);
tell(bodies);
