import type { Engine } from "../clickhouse/engine.ts";
import { AppError } from "../shared/errors.ts";
import { isSelected, releaseCalls, type CallTable } from "../rollup/table/call-table.ts";
import { LlmNames } from "../rollup/table/llm-names.ts";
import { readCallTable } from "../rollup/table/read-call-table.ts";
import type { SelectedTrace, Selection } from "../rollup/selection.ts";
import { callRowBytes, selectTraces } from "../rollup/store.ts";

/** What is known before the first byte of an answer: everything that an answer's head or an error must say. */
export interface PreparedUsage {
  readonly selection: Selection;
  readonly traces: readonly SelectedTrace[];
  readonly truncated: boolean;
  readonly names: LlmNames;
  /** The calls of the only trace, when they are read already. */
  readonly calls: CallTable | undefined;
}

export interface ReadOptions {
  /** The most calls that are read for one answer. */
  readonly maxTraceCalls: number;
  readonly signal: AbortSignal;
}

/** Errors: too_many_calls when the traces of the selected calls have more than `maxTraceCalls` calls. */
export async function prepareUsage(
  engine: Engine,
  selection: Selection,
  options: ReadOptions,
): Promise<PreparedUsage> {
  const names = new LlmNames();
  const single = await readOnlyTrace(engine, selection, { ...options, names });
  if (single !== undefined) return single;
  const { traces, truncated } = await selectTraces(engine, selection, options.signal);
  const callCount = traces.reduce((sum, trace) => sum + trace.callCount, 0);
  if (callCount > options.maxTraceCalls) throw tooManyCalls(String(callCount), options);
  return { selection, traces, truncated, names, calls: undefined };
}

/** One trace is read without counting first, unless more of its calls match than the limit allows. */
async function readOnlyTrace(
  engine: Engine,
  selection: Selection,
  { maxTraceCalls, signal, names }: ReadOptions & { names: LlmNames },
): Promise<PreparedUsage | undefined> {
  const { project, condition, onlyTrace } = selection;
  if (onlyTrace === undefined || selection.evaluateOnce) return undefined;
  const limit = maxTraceCalls + 1;
  const bytes = await callRowBytes(engine, { project, traceIds: [onlyTrace], condition, limit }, signal);
  const traces = [{ traceId: onlyTrace, callCount: 0, ids: undefined }];
  const calls = readCallTable(bytes, traces, names);
  if (calls.count > maxTraceCalls) throw tooManyCalls(`more than ${maxTraceCalls}`, { maxTraceCalls });
  if (countSelected(calls) > selection.limit) {
    releaseCalls(calls);
    return undefined;
  }
  return { selection, traces, truncated: false, names, calls };
}

function countSelected(calls: CallTable): number {
  let count = 0;
  for (let call = 0; call < calls.count; call++) if (isSelected(calls, call)) count++;
  return count;
}

export function tooManyCalls(count: string, { maxTraceCalls }: Pick<ReadOptions, "maxTraceCalls">): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${count} calls; one answer reads at most ${maxTraceCalls}. ` +
      "Select fewer traces, or raise MAX_TRACE_CALLS.",
  );
}
