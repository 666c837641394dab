// OpenAI's client, in the release that the first argument names: chats.
import { gather, serve } from "./lines.mjs";

const { default: OpenAI } = await import(process.argv[2]);

const FORMS = {
  raw: async (completions, fields) => ({ events: await gather(await completions.create({ ...fields, stream: true })) }),
  helper: async (completions, fields) => ({ whole: await completions.stream(fields).finalChatCompletion() }),
  whole: async (completions, fields) => ({ whole: await completions.create(fields) }),
};

serve(
  ({ form, fields, origin, apiKey, milliseconds: timeout, maxRetries }) =>
    FORMS[form](new OpenAI({ baseURL: `${origin}/v1`, apiKey, timeout, maxRetries, logLevel: "off" }).chat.completions, fields),
  (error) => error instanceof OpenAI.OpenAIError,
);
