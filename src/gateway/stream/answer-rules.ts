/**
 * What to keep of a value: an object's members, a list's items, a fact whole, text and what else belongs to an answer as
 * far as it fits.
 */
export type Rule =
  | {
      readonly kind: "object";
      readonly members: ReadonlyMap<string, Rule | undefined>;
      readonly others: Rule;
    }
  | { readonly kind: "list"; readonly items: Rule }
  | { readonly kind: "fact" | "text" | "other" };

/** Members of a response, a choice or a message that are not recorded: they can be larger than the answer itself. */
export const UNRECORDED: ReadonlySet<string> = new Set([
  "logprobs",
  "prompt_logprobs",
  "token_ids",
  "prompt_token_ids",
  "obfuscation",
]);

const fact: Rule = { kind: "fact" };
const text: Rule = { kind: "text" };
const other: Rule = { kind: "other" };
const list = (items: Rule): Rule => ({ kind: "list", items });

/** These members by their own rules, the unrecorded not at all, and all others. */
function object(members: Readonly<Record<string, Rule>>): Rule {
  const unrecorded = [...UNRECORDED].map((name) => [name, undefined] as const);
  return { kind: "object", members: new Map([...Object.entries(members), ...unrecorded]), others: other };
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
const choice = object({ index: fact, finish_reason: fact, error: fact, message, delta: message });

/** A completion, or one chunk of it. */
export const ANSWER = object({
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
