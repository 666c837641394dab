// What each client makes of a refusal, and whether it tries again; each question names its client.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import OpenAI6 from "openai-6";
import { asked, tell } from "./exchange.mjs";

const { baseURL, apiKey, questions } = asked;
const model = "glm-5.2";
const anthropic = new Anthropic();
const compatible = createOpenAICompatible({ name: "engy", baseURL, apiKey });
const native = createAnthropic({ baseURL, apiKey });

function chat(client) {
  return (content, stream) => client.chat.completions.create({ model, stream, messages: [{ role: "user", content }] });
}

// The AI SDK tells of a failed stream by a callback.
function streamed(call) {
  return new Promise((resolve, reject) => {
    streamText({ ...call, onError: ({ error }) => reject(error) }).consumeStream().then(resolve);
  });
}

const CLIENTS = {
  openai: chat(new OpenAI()),
  "openai-6": chat(new OpenAI6()),
  responses: (content, stream) => new OpenAI().responses.create({ model, stream, input: content }),
  anthropic: (content, stream) =>
    anthropic.messages.create({ model, stream, max_tokens: 20, messages: [{ role: "user", content }] }),
  "ai-chat": (prompt, stream) => (stream ? streamed : generateText)({ model: compatible(model), prompt }),
  "ai-messages": (prompt, stream) =>
    (stream ? streamed : generateText)({ model: native(model), prompt, maxOutputTokens: 20 }),
};

// The AI SDK wraps the last of several errors.
function described(error) {
  const last = error.lastError ?? error;
  return {
    kind: last.constructor.name,
    name: last.name,
    wrapper: error.lastError && error.name,
    status: last.status ?? last.statusCode,
    message: last.message,
    requestId: last.requestID ?? last.responseHeaders?.["x-request-id"],
    type: last.type,
    code: last.code,
    isRetryable: last.isRetryable,
  };
}

const found = [];
for (const { client, content, stream } of questions) {
  try {
    await CLIENTS[client](content, stream);
    found.push(null);
  } catch (error) {
    found.push(described(error));
  }
}
tell(found);
