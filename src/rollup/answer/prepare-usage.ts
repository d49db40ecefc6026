import type { Engine } from "../../store/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { isSelected, releaseCalls, type CallTable } from "../table/call-table.ts";
import { LlmNames } from "../table/llm-names.ts";
import { readCallTable } from "../table/read-call-table.ts";
import type { SelectedTrace, Selection } from "../selection.ts";
import { selectedRowBytes, selectTraces, traceRowBytes } from "../store.ts";

/** What is known before the first byte of an answer: everything that an answer's head or an error must say. */
export interface PreparedUsage {
  readonly selection: Selection;
  readonly traces: readonly SelectedTrace[];
  readonly truncated: boolean;
  readonly names: LlmNames;
  /** All calls of all traces, when they are read already; `traces` is empty then. */
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
  const calls = await readAtOnce(engine, selection, { ...options, names });
  if (calls !== undefined) return { selection, traces: [], truncated: false, names, calls };
  const { traces, truncated } = await selectTraces(engine, selection, options.signal);
  const callCount = traces.reduce((sum, trace) => sum + trace.callCount, 0);
  if (callCount > options.maxTraceCalls) throw tooManyCalls(String(callCount), options);
  return { selection, traces, truncated, names, calls: undefined };
}

/** So many calls are as well read as counted. */
const MAX_AT_ONCE = 50_000;
/** A longer window may have more calls than that, and would be read in vain. */
const MAX_HOURS_AT_ONCE = 3;

/**
 * One trace, or those of a short window, are read without being counted before. Undefined where that can not be, or
 * brought more than an answer has.
 */
async function readAtOnce(
  engine: Engine,
  selection: Selection,
  { maxTraceCalls, signal, names }: ReadOptions & { names: LlmNames },
): Promise<CallTable | undefined> {
  const { project, condition, onlyTrace, reach } = selection;
  if (selection.evaluateOnce) return undefined;
  if (onlyTrace !== undefined) {
    const read = { project, traceId: onlyTrace, condition, limit: maxTraceCalls + 1 };
    const bytes = await traceRowBytes(engine, read, signal);
    const trace: SelectedTrace = { traceId: onlyTrace, callCount: 0, hours: [], ids: undefined };
    const calls = readCallTable(bytes, [trace], names);
    if (calls.count > maxTraceCalls) throw tooManyCalls(`more than ${maxTraceCalls}`, { maxTraceCalls });
    return withinLimit(calls, selection);
  }
  if (reach.hours > MAX_HOURS_AT_ONCE) return undefined;
  const most = Math.min(MAX_AT_ONCE, maxTraceCalls);
  const bytes = await selectedRowBytes(engine, selection, most + 1, signal);
  const calls = readCallTable(bytes, undefined, names);
  if (calls.count <= most) return withinLimit(calls, selection);
  releaseCalls(calls);
  return undefined;
}

/** The oldest have to be chosen where there are more than the limit. */
function withinLimit(calls: CallTable, { limit }: Selection): CallTable | undefined {
  if (countSelected(calls) <= limit) return calls;
  releaseCalls(calls);
  return undefined;
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
