import { expect } from "vitest";
import type { TestApp } from "./start-app.ts";

/** An LLM's counts and costs. */
export type Entries = Record<string, Record<string, number | null>>;

/** Reads the summed usage and costs of the roots of traces. */
export async function rootTotals(test: TestApp, project_id: string, filter: object = {}): Promise<Entries> {
  const response = await test.post("/trace/usage", {
    project_id,
    filter: { ...filter, trace_roots_only: true },
    include_costs: true,
  });
  expect(response.status, response.text).toBe(200);
  const total: Entries = {};
  for (const perLlm of Object.values(response.json().call_usage as Record<string, Entries>)) {
    for (const [llm, entry] of Object.entries(perLlm)) add((total[llm] ??= {}), entry);
  }
  return total;
}

function add(total: Entries[string], entry: Entries[string]): void {
  for (const [name, value] of Object.entries(entry)) {
    const sum = (total[name] ?? 0) + (value ?? 0);
    total[name] = value === null ? null : Number(sum.toFixed(12));
  }
}

export interface ServedResponses {
  readonly project: string;
  readonly trace: string;
  readonly startedAt: string;
  /** Usage of each response by model, in the provider's format. */
  readonly answers: readonly Readonly<Record<string, object>>[];
}

/** Sends the same responses as plain calls; returns their usage and costs. */
export async function sendAsCalls(
  test: TestApp,
  { project, trace, startedAt, answers }: ServedResponses,
): Promise<Entries> {
  const batch = answers.map((response, number) => ({
    id: `${trace}-${number}`,
    trace_id: trace,
    op_name: "ask",
    started_at: startedAt,
    ended_at: startedAt,
    inputs: {},
    attributes: {},
    output: null,
    summary: {
      usage: Object.fromEntries(
        Object.entries(response).map(([model, usage]) => [model, { requests: 1, ...usage }]),
      ),
    },
  }));
  const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
  expect(stored.json()).toEqual({ rejected: [] });
  return rootTotals(test, project, { trace_ids: [trace] });
}

/** Anthropic and Bedrock count cached tokens beside the prompt; the conventions of OpenTelemetry, within it. */
export function withCacheInPrompt(usage: Readonly<Record<string, unknown>>): object {
  if (typeof usage["cacheReadInputTokens"] === "number") return usageOfBedrock(usage);
  const read = usage["cache_read_input_tokens"];
  if (typeof read !== "number") return usage;
  const prompt = (usage["input_tokens"] as number) + read + (usage["cache_creation_input_tokens"] as number);
  const { input_tokens: _, ...rest } = usage;
  return { ...rest, prompt_tokens: prompt };
}

function usageOfBedrock(usage: Readonly<Record<string, unknown>>): object {
  const count = (name: string): number => usage[name] as number;
  const [read, written] = [count("cacheReadInputTokens"), count("cacheWriteInputTokens")];
  return {
    prompt_tokens: count("inputTokens") + read + written,
    completion_tokens: count("outputTokens"),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    provider: usage["provider"],
  };
}
