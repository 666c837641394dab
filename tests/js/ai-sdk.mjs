// What the AI SDK gives a program, through its OpenAI-compatible and its Anthropic provider.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { asked, gather, tell } from "./exchange.mjs";

const { baseURL, apiKey, model, prompt } = asked;
const PROVIDERS = {
  chat: createOpenAICompatible({ name: "engy", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true }),
  messages: createAnthropic({ baseURL, apiKey }),
};

const inputSchema = z.object({ city: z.string(), days: z.int().min(1).max(7) });
const weather = tool({ description: "The weather.", inputSchema, execute: ({ city }) => `Sunny in ${city}.` });
const schema = z.object({ name: z.string(), email: z.email(), stops: z.array(z.string()).min(2) });

async function experience(provider) {
  const call = { model: provider(model), prompt, maxOutputTokens: 2000, maxRetries: 0 };
  const whole = await generateText(call);
  const stream = streamText(call);
  const parts = await gather(stream.fullStream);
  const tools = { tools: { weather }, toolChoice: "required" };
  const called = await generateText({ ...call, ...tools, stopWhen: stepCountIs(2) });
  const calledInAStream = streamText({ ...call, ...tools });
  await calledInAStream.consumeStream();
  const structured = await generateText({ ...call, output: Output.object({ schema }) });
  const structuredStream = streamText({ ...call, output: Output.object({ schema }) });
  const partials = await gather(structuredStream.partialOutputStream);
  const cut = await generateText({ ...call, maxOutputTokens: 3 });
  return {
    whole: await summary(whole),
    stream: { ...(await summary(stream)), parts },
    called: called.steps.map(({ finishReason, toolCalls, toolResults }) => ({ finishReason, toolCalls, toolResults })),
    calledInAStream: {
      finishReason: await calledInAStream.finishReason,
      toolCalls: await calledInAStream.toolCalls,
      toolResults: await calledInAStream.toolResults,
    },
    structured: structured.output,
    structuredInAStream: { last: partials.at(-1), final: await structuredStream.output },
    cut: await summary(cut),
  };
}

async function summary(result) {
  const { id, modelId } = await result.response;
  return {
    text: await result.text,
    reasoning: await result.reasoningText,
    finishReason: await result.finishReason,
    usage: await result.usage,
    warnings: await result.warnings,
    id,
    modelId,
  };
}

const found = {};
for (const [name, provider] of Object.entries(PROVIDERS)) found[name] = await experience(provider);
tell(found);
