/**
 * Capture rule of a JSON value: members of an object, items of a list, a whole fact, or text and other content within a
 * budget.
 */
export type CaptureRule =
  | {
      readonly kind: "object";
      readonly members: ReadonlyMap<string, CaptureRule | undefined>;
      readonly others: CaptureRule | undefined;
    }
  | { readonly kind: "list"; readonly items: CaptureRule }
  | { readonly kind: "fact" | "text" | "other" };

/** Unrecorded members: they can be larger than the response itself. */
export const UNRECORDED: ReadonlySet<string> = new Set([
  "logprobs",
  "prompt_logprobs",
  "token_ids",
  "prompt_token_ids",
  "obfuscation",
]);

export const fact: CaptureRule = { kind: "fact" };
export const text: CaptureRule = { kind: "text" };
const other: CaptureRule = { kind: "other" };
export const list = (items: CaptureRule): CaptureRule => ({ kind: "list", items });

/** Builds an object rule: given members by their rules, unrecorded ones skipped, others captured. */
export function object(members: Readonly<Record<string, CaptureRule | undefined>>): CaptureRule {
  const unrecorded = [...UNRECORDED].map((name) => [name, undefined] as const);
  return { kind: "object", members: new Map([...Object.entries(members), ...unrecorded]), others: other };
}

/** Builds an object rule: given members whole, others skipped. */
export function facts(names: readonly string[]): CaptureRule {
  return { kind: "object", members: new Map(names.map((name) => [name, fact])), others: undefined };
}

const message = object({
  role: fact,
  content: text,
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: text,
  function_call: text,
  audio: object({ id: fact, transcript: text }),
});
const choice = object({
  index: fact,
  finish_reason: fact,
  usage: fact,
  error: fact,
  message,
  delta: message,
});

/** Chat completion, or one chunk of it. */
export const COMPLETION = object({
  id: fact,
  object: fact,
  model: fact,
  service_tier: fact,
  usage: fact,
  x_groq: fact,
  error: fact,
  message: fact,
  detail: fact,
  choices: list(choice),
});

/** Responses API response, whole or within an event. */
const item = object({
  type: fact,
  id: fact,
  status: fact,
  action: fact,
  name: fact,
  call_id: fact,
  content: text,
  arguments: text,
  summary: text,
  encrypted_content: undefined,
});
const responseFacts = {
  id: fact,
  object: fact,
  model: fact,
  status: fact,
  background: fact,
  created_at: fact,
  service_tier: fact,
  usage: fact,
  tool_usage: fact,
  error: fact,
  incomplete_details: fact,
  tools: list(object({ type: fact, model: fact })),
  output: list(item),
};
export const RESPONSE_EVENT = object({
  ...responseFacts,
  type: fact,
  delta: text,
  item,
  message: fact,
  response: object(responseFacts),
});

/** Anthropic message, or one event of it. */
const messageFacts = {
  id: fact,
  type: fact,
  role: fact,
  model: fact,
  stop_reason: fact,
  usage: fact,
  error: fact,
  content: list(object({ type: fact, text, thinking: text, input: text, name: fact, id: fact })),
};
export const MESSAGE_EVENT = object({
  ...messageFacts,
  index: fact,
  message: object(messageFacts),
  delta: object({ type: fact, stop_reason: fact, text, thinking: text, partial_json: text }),
});

/** Response of facts only, or its last event. */
const plainFacts = { id: fact, object: fact, type: fact, model: fact, usage: fact, meta: fact, error: fact };
export const EVENT = object({ ...plainFacts, text, delta: text });
export const VECTORS = object({ ...plainFacts, data: undefined, embeddings: undefined });
export const IMAGES = object({
  ...plainFacts,
  b64_json: undefined,
  data: list(object({ b64_json: undefined })),
});
