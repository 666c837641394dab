// Anthropic's client: messages.
import Anthropic from "@anthropic-ai/sdk";
import { gather, serve } from "./lines.mjs";

const FORMS = {
  raw: async (messages, fields) => ({ events: await gather(await messages.create({ ...fields, stream: true })) }),
  helper: async (messages, fields) => ({ whole: await messages.stream(fields).finalMessage() }),
  whole: async (messages, fields) => ({ whole: await messages.create(fields) }),
};

serve(
  ({ form, fields, origin: baseURL, apiKey, milliseconds: timeout, maxRetries }) =>
    FORMS[form](new Anthropic({ baseURL, apiKey, timeout, maxRetries, logLevel: "off" }).messages, fields),
  (error) => error instanceof Anthropic.AnthropicError,
);
