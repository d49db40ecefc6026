import type { Inclusive } from "../../calls/parts/message-columns.ts";
import { textOf, type Attributes } from "./attributes.ts";

/** The facts that identify a span's producer. */
export interface SpanOfProducer {
  readonly name: string;
  readonly scopeName: string;
  readonly attributes: Attributes;
}

/**
 * Whether a span's usage includes that of the spans below it. It does for almost all producers: a wrapper repeats the sum
 * of its children, a second instrumentation repeats the same completion. A recorded trace proves the exception:
 * LangSmith reports usage for models only, but puts a streamed completion into the active span (langsmith.json).
 */
export function inclusiveOf({ scopeName }: SpanOfProducer): Inclusive {
  return scopeName === "langsmith" ? false : "in_total";
}

/** Instrumentations whose input tokens exclude cached ones, against the conventions. */
const EXCLUDING_SCOPES = new Set([
  "@traceloop/instrumentation-anthropic",
  "@traceloop/instrumentation-bedrock",
]);
const CLAUDE_CODE = /^claude_code\./;
const AI_SDK = "ai";
const EXCLUDING_PROVIDERS = /anthropic|bedrock/;
const UNCACHED_INPUT = "ai.usage.inputTokenDetails.noCacheTokens";

/**
 * Whether a span's prompt count excludes cached tokens. The AI SDK up to version 5 passes on the counts of Anthropic and
 * Bedrock; from version 6 on it adds the cached tokens and reports the parts.
 */
export function excludesCache({ name, scopeName, attributes }: SpanOfProducer): boolean {
  if (EXCLUDING_SCOPES.has(scopeName) || CLAUDE_CODE.test(name)) return true;
  if (scopeName !== AI_SDK || attributes.has(UNCACHED_INPUT)) return false;
  return EXCLUDING_PROVIDERS.test(textOf(attributes.get("ai.model.provider")) ?? "");
}

/** Claude Code's names, which are too general to apply to other producers. */
const BARE_NAMES = new Map([
  ["input_tokens", "gen_ai.usage.input_tokens"],
  ["output_tokens", "gen_ai.usage.output_tokens"],
  ["cache_read_tokens", "gen_ai.usage.cache_read.input_tokens"],
  ["cache_creation_tokens", "gen_ai.usage.cache_creation.input_tokens"],
  ["model", "gen_ai.request.model"],
]);

/** The usage attributes, with names that only one producer uses translated to those of the conventions. */
export function usageAttributes({ name, attributes }: SpanOfProducer): Attributes {
  if (!CLAUDE_CODE.test(name)) return attributes;
  const renamed = [...attributes].flatMap(([key, value]) => {
    const known = BARE_NAMES.get(key);
    return known === undefined || attributes.has(known) ? [] : [[known, value] as const];
  });
  return new Map([...attributes, ...renamed]);
}
