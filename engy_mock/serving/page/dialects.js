// The dialects that the playground speaks: what is sent, and what of the answer is text.

const user = (text) => [{ role: "user", content: text }];

// A piece of an answer: what kind of text it is.
const reasoning = (text) => text && { kind: "reasoning", text };
const said = (text) => text && { kind: "text", text };
const called = (text) => text && { kind: "call", text };

const chat = {
  canScore: true,
  body: ({ model, text, tokens, scores }) => ({
    model,
    messages: user(text),
    ...(tokens ? { max_tokens: tokens } : {}),
    ...(scores ? { logprobs: true, top_logprobs: 5 } : {}),
  }),
  pieces: ({ choices }) =>
    (choices ?? []).flatMap(({ delta, message }) => {
      const own = delta ?? message ?? {};
      return [
        reasoning(own.reasoning_content),
        said(own.content),
        ...(own.tool_calls ?? []).map((call) => called(call.function?.arguments)),
      ];
    }),
};

const completions = {
  canScore: true,
  body: ({ model, text, tokens, scores }) => ({
    model,
    prompt: text,
    max_tokens: tokens || 200,
    ...(scores ? { logprobs: 5 } : {}),
  }),
  pieces: ({ choices }) => (choices ?? []).map(({ text }) => said(text)),
};

const messages = {
  canScore: false,
  headers: { "anthropic-version": "2023-06-01" },
  body: ({ model, text, tokens }) => ({ model, max_tokens: tokens || 1024, messages: user(text) }),
  pieces: ({ delta, content }) =>
    (content ?? (delta ? [delta] : [])).flatMap((own) => [
      reasoning(own.thinking),
      said(own.text),
      called(own.partial_json),
    ]),
};

const responses = {
  canScore: true,
  body: ({ model, text, tokens, scores }) => ({
    model,
    input: text,
    ...(tokens ? { max_output_tokens: tokens } : {}),
    ...(scores ? { include: ["message.output_text.logprobs"], top_logprobs: 5 } : {}),
  }),
  pieces: ({ type, delta, output }) => {
    if (output)
      return output.flatMap((item) =>
        [...(item.summary ?? []), ...(item.content ?? [])].map((part) =>
          (item.type === "message" ? said : reasoning)(part.text),
        ),
      );
    if (typeof delta !== "string") return [];
    return [
      type.includes("reasoning") ? reasoning(delta) : type.includes("arguments") ? called(delta) : said(delta),
    ];
  },
};

const inference = {
  canScore: false,
  body: ({ model, text, tokens }) => ({
    model,
    args: { prompt: text, ...(tokens ? { max_tokens: tokens } : {}) },
  }),
  // Whole it is an object with the text in it, in pieces the text alone; a rule may answer with anything.
  pieces: ({ response }) => {
    const own = response?.output ?? response;
    return [said(typeof own === "string" ? own : JSON.stringify(own))];
  },
};

const v5 = { surface: "v5" };

export const DIALECTS = [
  { ...chat, name: "Chat completions", path: "/v1/chat/completions" },
  { ...messages, name: "Messages", path: "/v1/messages" },
  { ...responses, name: "Responses", path: "/v1/responses" },
  { ...completions, name: "Completions", path: "/v1/completions", comesWhole: true },
  { ...chat, ...v5, name: "Chat completions (v5)", path: "/v5/chat/completions" },
  { ...completions, ...v5, name: "Completions (v5)", path: "/v5/completions" },
  { ...responses, ...v5, name: "Responses (v5)", path: "/v5/responses", vendors: ["openai"] },
  { ...inference, ...v5, name: "Inference (v5)", path: "/v5/inference" },
];

// The models that a dialect takes, by what the mock says of them.
export const modelsOf = ({ surface, vendors }, models) =>
  models.filter(({ vendor }) =>
    surface === "v5" ? vendor !== null && (!vendors || vendors.includes(vendor)) : vendor === null,
  );

export const keyHeaderOf = ({ surface }, key) =>
  surface === "v5" ? { "x-api-key": key } : { Authorization: `Bearer ${key}` };
