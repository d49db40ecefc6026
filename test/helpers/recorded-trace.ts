import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface RecordedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly name: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
}

export interface RecordedRequest {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly RecordedSpan[] }[] }[];
}

const DIR = join(import.meta.dirname, "../fixtures/otlp");

export function recorded(name: string): RecordedRequest {
  return JSON.parse(readFileSync(join(DIR, `${name}.json`), "utf8")) as RecordedRequest;
}

export function spansOf(request: RecordedRequest): readonly RecordedSpan[] {
  return request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

export interface TrueUsage {
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/**
 * Computes the true usage of every call of a recorded trace by model, descendants included. Counts spans with tokens
 * that have no descendant with tokens, because only leaves call a model.
 */
export function trueUsage(spans: readonly RecordedSpan[]): Record<string, Record<string, TrueUsage>> {
  const childrenOf = (span: RecordedSpan) => spans.filter((one) => one.parentSpanId === span.spanId);
  const below = (span: RecordedSpan): RecordedSpan[] =>
    childrenOf(span).flatMap((child) => [child, ...below(child)]);
  const tellsTokens = (span: RecordedSpan) => prompt(span) !== undefined;
  const isRequest = (span: RecordedSpan) => tellsTokens(span) && !below(span).some(tellsTokens);
  return Object.fromEntries(
    spans.map((span) => {
      const total: Record<string, TrueUsage> = {};
      for (const one of [span, ...below(span)].filter(isRequest)) {
        const entry = (total[model(one)] ??= { requests: 0, prompt_tokens: 0, completion_tokens: 0 });
        entry.requests += 1;
        entry.prompt_tokens += prompt(one)!;
        entry.completion_tokens += completion(one);
      }
      return [span.spanId, total];
    }),
  );
}

function attribute(span: RecordedSpan, ...keys: string[]): unknown {
  const found = keys.flatMap((key) => span.attributes.filter((one) => one.key === key))[0];
  return found === undefined ? undefined : Object.values(found.value)[0];
}

function prompt(span: RecordedSpan): number | undefined {
  const keys = ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"];
  return attribute(span, ...keys, "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens") as
    | number
    | undefined;
}

function completion(span: RecordedSpan): number {
  const keys = ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"];
  return (attribute(span, ...keys) as number | undefined) ?? 0;
}

function model(span: RecordedSpan): string {
  return attribute(
    span,
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
  ) as string;
}
