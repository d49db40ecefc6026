import type { Engine } from "../../store/engine.ts";
import { releaseCalls, type CallTable } from "../../rollup/table/call-table.ts";
import type { LlmNames } from "../../rollup/table/llm-names.ts";
import { readCallTable } from "../../rollup/table/read-call-table.ts";
import { readTraces } from "../../rollup/read-traces.ts";
import type { SelectedTrace } from "../../rollup/selection.ts";
import { countPerTrace, selectTraces } from "../../rollup/store.ts";
import { AppError } from "../../shared/errors.ts";
import { CallColumns } from "./call-columns.ts";
import type { WindowPlan } from "../plan/plan-stats.ts";

/** Calls that are chosen by their ids, because what they are asked about is looked at once only, are all in memory. */
const MAX_CHOSEN = 1_000_000;

export interface WindowLimits {
  /** The most calls that are read for one answer. */
  readonly maxCalls: number;
  readonly signal: AbortSignal;
}

export interface WindowToFold {
  readonly plan: WindowPlan;
  readonly names: LlmNames;
  /** Takes the calls of some whole traces. */
  readonly fold: { add(calls: CallTable, columns: CallColumns): void };
}

/** Adds up all calls of a window. Errors: `StorageError`; too_many_calls. */
export async function foldWindow(engine: Engine, window: WindowToFold, limits: WindowLimits): Promise<void> {
  await foldTraces(engine, window, await tracesOfWindow(engine, window.plan, limits), limits);
}

/**
 * Reads the traces that the selected calls are in, whole, because what is a call's own depends on the others, and adds
 * them up one group after the other. Errors: `StorageError`; too_many_calls.
 */
export async function foldTraces(
  engine: Engine,
  { plan, names, fold }: WindowToFold,
  traces: readonly SelectedTrace[],
  limits: WindowLimits,
): Promise<void> {
  const { selection } = plan;
  const count = traces.reduce((sum, trace) => sum + trace.callCount, 0);
  if (count > limits.maxCalls) throw tooMany(`${count} calls`, limits);
  const columns = (selected: Parameters<typeof CallColumns.select>[1]) => CallColumns.select(plan, selected);
  for await (const { bytes, traces: group } of readTraces(engine, { selection, traces, columns }, limits)) {
    const read = new CallColumns(bytes, plan);
    const calls = readCallTable(bytes, group, names, { readMore: read.readBlock, parents: "for_own" });
    if (calls.count > limits.maxCalls) throw tooMany(`more than ${limits.maxCalls} calls`, limits);
    fold.add(calls, read);
    releaseCalls(calls);
  }
}

/** The traces that the selected calls are in. Errors: as `foldWindow`. */
export async function tracesOfWindow(
  engine: Engine,
  { selection, buckets }: Pick<WindowPlan, "selection" | "buckets">,
  { maxCalls, signal }: WindowLimits,
): Promise<readonly SelectedTrace[]> {
  if (buckets.startsUs.length === 0) return [];
  if (!selection.evaluateOnce) {
    const traces = await countPerTrace(engine, selection, signal);
    return traces.map((trace) => ({ ...trace, ids: undefined }));
  }
  const limit = Math.min(maxCalls, MAX_CHOSEN);
  const { traces, truncated } = await selectTraces(engine, { ...selection, limit }, signal);
  if (truncated) throw tooMany(`more than ${limit} calls that match the query`, { maxCalls });
  return traces;
}

function tooMany(what: string, { maxCalls }: Pick<WindowLimits, "maxCalls">): AppError {
  return new AppError(
    "too_many_calls",
    `The traces of this question have ${what}; one answer reads at most ${maxCalls}. ` +
      "Ask for a shorter window, select fewer calls, or raise MAX_STATS_CALLS.",
  );
}
