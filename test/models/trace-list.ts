import { expect } from "vitest";
import type { Ask } from "./usage-history.ts";

/** A call as the oracle reads it from other routes. */
interface Call {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly exception: string | null;
  readonly op_name: string;
}

type Entry = Readonly<Record<string, number | null | boolean>>;

/** A trace of `POST /traces/query`, costs in picodollars. */
export interface ExpectedTrace {
  readonly trace_id: string;
  readonly root: string | null;
  readonly op_name: string | null;
  readonly startedMs: number;
  readonly calls: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly models: readonly string[];
  readonly total_tokens: number;
  readonly total_cost: number | null;
  readonly partial: boolean;
  readonly wasted_cost: number | null;
  readonly latency_ms: number | null;
}

/** Computes the list of all traces in plain JavaScript, from the calls and their own usage. */
export async function expectedTraces(ask: Ask, project_id: string): Promise<readonly ExpectedTrace[]> {
  const listed = await ask("/calls/stream_query", { project_id });
  expect(listed.status, listed.text).toBe(200);
  const calls = listed.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call);
  const used = await ask("/trace/usage", {
    project_id,
    own_only: true,
    include_costs: true,
    full_costs: true,
  });
  expect(used.status, used.text).toBe(200);
  const usage = used.json().call_usage as Record<string, Record<string, Entry>>;
  return [...Map.groupBy(calls, ({ trace_id }) => trace_id).values()].map((some) => traceOf(some, usage));
}

function traceOf(calls: readonly Call[], usage: Record<string, Record<string, Entry>>): ExpectedTrace {
  const first = (some: readonly Call[]): Call | undefined =>
    some.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || (a.id < b.id ? -1 : 1))[0];
  const root = first(calls.filter(({ parent_id }) => parent_id === null));
  const byId = new Map(calls.map((call) => [call.id, call]));
  const isWasted = (call: Call, seen = new Set<string>()): boolean => {
    if (call.exception !== null) return true;
    const parent = byId.get(call.parent_id ?? "");
    return parent !== undefined && !seen.has(parent.id) && isWasted(parent, seen.add(parent.id));
  };
  const entriesOf = (some: readonly Call[]): readonly (readonly [string, Entry])[] =>
    some.flatMap(({ id }) => Object.entries(usage[id] ?? {}));
  const entries = entriesOf(calls);
  const tokens = new Map<string, number>();
  for (const [llm, entry] of entries) tokens.set(llm, (tokens.get(llm) ?? 0) + Number(entry["total_tokens"]));
  return {
    trace_id: calls[0]!.trace_id,
    root: root?.id ?? null,
    op_name: root?.op_name ?? null,
    startedMs: Date.parse((root ?? first(calls)!).started_at),
    calls: calls.length,
    failed: calls.filter(({ exception }) => exception !== null).length,
    unfinished: calls.filter(({ ended_at }) => ended_at === null).length,
    models: [...tokens].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([llm]) => llm),
    total_tokens: [...tokens.values()].reduce((sum, count) => sum + count, 0),
    total_cost: costOf(entries),
    partial: entries.some(([, entry]) => entry["partial"] === true),
    wasted_cost: costOf(entriesOf(calls.filter((call) => isWasted(call)))),
    latency_ms:
      root === undefined || root.ended_at === null
        ? null
        : Math.trunc(Date.parse(root.ended_at) - Date.parse(root.started_at)),
  };
}

const COSTS = [
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
  "other_cost",
];

/** The sum of the costs of some usage, by LLM; null if nothing of it has a price. */
export function costOf(entries: readonly (readonly [string, Entry])[]): number | null {
  const known = entries.flatMap(([, entry]) =>
    COSTS.flatMap((name) => (entry[name] === null ? [] : [entry[name]])),
  );
  if (entries.length > 0 && known.length === 0) return null;
  return known.reduce<number>((sum, cost) => sum + Math.round(Number(cost) * 1e12), 0);
}

/** Adds up the figures of traces. */
export function totalOf(traces: readonly ExpectedTrace[]) {
  const sum = (value: (trace: ExpectedTrace) => number | null): number =>
    traces.reduce((all, trace) => all + (value(trace) ?? 0), 0);
  const cost = (
    name: "total_cost" | "wasted_cost",
    isUsed: (trace: ExpectedTrace) => boolean,
  ): number | null =>
    traces.some((trace) => trace[name] === null) &&
    traces.every((trace) => trace[name] === null || !isUsed(trace))
      ? null
      : sum((trace) => trace[name]);
  return {
    traces: traces.length,
    calls: sum(({ calls }) => calls),
    failed: sum(({ failed }) => failed),
    unfinished: sum(({ unfinished }) => unfinished),
    total_tokens: sum(({ total_tokens }) => total_tokens),
    total_cost: cost("total_cost", ({ models }) => models.length > 0),
    partial: traces.some(({ partial }) => partial),
  };
}
