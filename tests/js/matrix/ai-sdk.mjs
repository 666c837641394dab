// The AI SDK with its OpenAI-compatible provider: chats.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AISDKError, generateText, jsonSchema, streamText, tool } from "ai";
import { gather, serve } from "./lines.mjs";

function call({ fields, origin, apiKey, maxRetries }) {
  const engy = createOpenAICompatible({ name: "engy", baseURL: `${origin}/v1`, apiKey, includeUsage: !!fields.stream_options });
  const { model, messages, tools, maxOutputTokens, toolChoice, provider } = fields;
  return {
    model: engy(model),
    messages,
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, parameters]) => [name, tool({ inputSchema: jsonSchema(parameters) })]),
    ),
    maxOutputTokens,
    toolChoice,
    providerOptions: provider && { engy: { provider } },
    maxRetries,
  };
}

// The AI SDK tells of errors in parts of its stream; a program that reads it has to look for them.
function failure(parts) {
  const part = parts.find(({ type, invalid }) => type === "error" || type === "tool-error" || invalid);
  return part?.error;
}

function usage({ inputTokens, outputTokens, cachedInputTokens } = {}) {
  return [inputTokens, outputTokens, cachedInputTokens];
}

function joined(parts, kind) {
  return parts.filter(({ type }) => type === kind).map(({ text }) => text).join("");
}

const FORMS = {
  stream: async (job) => {
    const parts = await gather(streamText({ ...call(job), onError: () => undefined }).fullStream);
    const error = failure(parts);
    if (error !== undefined) throw error;
    const last = parts.find(({ type }) => type === "finish");
    return {
      text: joined(parts, "text-delta"),
      reasoning: joined(parts, "reasoning-delta"),
      calls: parts.filter(({ type }) => type === "tool-call").map(({ toolName, input }) => [toolName, input]),
      finish: last?.finishReason,
      usage: usage(last?.totalUsage),
    };
  },
  whole: async (job) => {
    const answer = await generateText(call(job));
    const error = failure(answer.content);
    if (error !== undefined) throw error;
    return {
      text: answer.text,
      reasoning: answer.reasoningText ?? "",
      calls: answer.toolCalls.map(({ toolName, input }) => [toolName, input]),
      finish: answer.finishReason,
      usage: usage(answer.usage),
    };
  },
};

serve(
  async (job) => ({ content: await FORMS[job.form](job) }),
  (error) => AISDKError.isInstance(error),
);
