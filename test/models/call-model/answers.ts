import { INPUT_REFS, OUTPUT_REFS, SPANS, type CallName } from "./messages.ts";
import { displayNameOf, liveCalls, parentOf, type LaneState } from "./state.ts";

/** How the calls of a lane are called on the wire. */
export interface Names {
  readonly id: (name: CallName) => string;
  readonly trace: (name: CallName) => string;
}

type Json = Record<string, unknown>;

/** A call as `/call/read` and `/calls/stream_query` answer it; a span's attributes are left out. */
export function callAnswer(state: LaneState, name: CallName, names: Names): Json {
  const call = state[name]!;
  const { said } = call;
  const text = (member: string) => said[member] || null;
  const parent = parentOf(state, name);
  return {
    id: names.id(name),
    op_name: said["op_name"],
    display_name: displayNameOf(call),
    trace_id: names.trace(name),
    parent_id: parent && names.id(parent),
    thread_id: text("thread_id"),
    turn_id: text("turn_id"),
    started_at: instant(said["started_at"] as string),
    ended_at: said["ended_at"] == null ? null : instant(said["ended_at"] as string),
    exception: text("exception"),
    wb_user_id: text("wb_user_id"),
    wb_run_id: text("wb_run_id"),
    wb_run_step: said["wb_run_step"] ?? null,
    deleted_at: null,
    inputs: said["inputs"] ?? {},
    output: said["output"] ?? null,
    summary: { ...summaryOf(state, name), weave: computed(state, name) },
    ...(!isSpan(name) && { attributes: said["attributes"] ?? {} }),
  };
}

export function isSpan(name: CallName): boolean {
  return (SPANS as readonly string[]).includes(name);
}

function summaryOf(state: LaneState, name: CallName): Json {
  return (state[name]!.said["summary"] ?? {}) as Json;
}

/** `summary.weave`. */
function computed(state: LaneState, name: CallName): Json {
  const { said } = state[name]!;
  const errors = (summaryOf(state, name)["status_counts"] as { error: number } | undefined)?.error ?? 0;
  const ended = said["ended_at"] as string | null | undefined;
  const opName = said["op_name"] as string;
  return {
    status: said["exception"]
      ? "error"
      : errors > 0
        ? "descendant_error"
        : ended == null
          ? "running"
          : "success",
    latency_ms:
      ended == null ? null : Math.floor((micros(ended) - micros(said["started_at"] as string)) / 1000),
    trace_name: displayNameOf(state[name]!) ?? /^weave:\/\/\/.*\/([^/:]*):[^/]*$/.exec(opName)?.[1] ?? opName,
  };
}

export const COUNTS = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;
type Counts = Record<(typeof COUNTS)[number], number>;
export type Usage = Record<string, Counts>;

/** Per live call and LLM what it and all its descendants used, as `/trace/usage` answers without the costs. */
export function usageAnswer(state: LaneState, names: Names): Record<string, Usage> {
  return Object.fromEntries(liveCalls(state).map((name) => [names.id(name), usageOf(state, name, names)]));
}

function usageOf(state: LaneState, name: CallName, names: Names): Usage {
  const children = childrenOf(state, name, names).map((child) => usageOf(state, child, names));
  const below = children.reduce((sum, one) => combine(sum, one, (a, b) => a + b), {});
  const weave = (state[name]!.said["attributes"] as Json | null | undefined)?.["weave"] as Json | undefined;
  const inclusive = weave?.["source"] === "js-sdk";
  return combine(ownUsage(state, name), below, inclusive ? Math.max : (a, b) => a + b);
}

/** Computes the usage of all visible calls, as `total` of `/usage/stats`. */
export function totalAnswer(state: LaneState, names: Names): Record<string, number> {
  const calls = liveCalls(state);
  const isRoot = (name: CallName): boolean => {
    const parent = parentOf(state, name);
    return parent === null || !calls.includes(parent) || names.trace(parent) !== names.trace(name);
  };
  const used = calls.filter(isRoot).flatMap((root) => Object.values(usageOf(state, root, names)));
  const counts = COUNTS.map((count) => [count, used.reduce((sum, one) => sum + one[count], 0)]);
  const errors = calls.filter((name) => computed(state, name)["status"] === "error");
  return { calls: calls.length, errors: errors.length, ...Object.fromEntries(counts) };
}

function childrenOf(state: LaneState, name: CallName, names: Names): readonly CallName[] {
  return liveCalls(state).filter(
    (child) => parentOf(state, child) === name && names.trace(child) === names.trace(name),
  );
}

/** Returns the usage that a call itself reports, by LLM. */
export function ownUsage(state: LaneState, name: CallName): Usage {
  const reported = (summaryOf(state, name)["usage"] ?? {}) as Record<string, Partial<Counts>>;
  return Object.fromEntries(
    Object.entries(reported).map(([llm, counts]) => {
      const own = Object.fromEntries(COUNTS.map((count) => [count, counts[count] ?? 0])) as Counts;
      return [llm, { ...own, total_tokens: own.prompt_tokens + own.completion_tokens }];
    }),
  );
}

function combine(one: Usage, other: Usage, add: (a: number, b: number) => number): Usage {
  const llms = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...llms].map((llm) => [
      llm,
      Object.fromEntries(
        COUNTS.map((count) => [count, add(one[llm]?.[count] ?? 0, other[llm]?.[count] ?? 0)]),
      ) as Counts,
    ]),
  );
}

/** Sorted, as `unfinished_call_ids`. */
export function unfinishedAnswer(state: LaneState, names: Names): readonly string[] {
  return liveCalls(state)
    .filter((name) => state[name]!.said["ended_at"] == null)
    .map((name) => names.id(name))
    .sort();
}

/** Which of a call's members the indexed references are of, and the strings that are some. */
export function hasRef(state: LaneState, name: CallName, ref: string): boolean {
  const isInput = (INPUT_REFS as readonly string[]).includes(ref);
  const isOutput = (OUTPUT_REFS as readonly string[]).includes(ref);
  const { inputs, output } = state[name]!.said;
  return (
    (isInput && (JSON.stringify(inputs) ?? "").includes(ref)) ||
    (isOutput && (JSON.stringify(output) ?? "").includes(ref))
  );
}

export function micros(text: string): number {
  const [, whole, fraction = "", zone = ""] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text)!;
  return Date.parse(`${whole}${zone || "Z"}`) * 1000 + Number(fraction.padEnd(6, "0"));
}

function instant(text: string): string {
  const at = micros(text);
  const ms = Math.floor(at / 1000);
  return `${new Date(ms).toISOString().slice(0, 23)}${String(at % 1000).padStart(3, "0")}Z`;
}
