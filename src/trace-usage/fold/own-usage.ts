import { release } from "../../shared/buffers.ts";
import { atOnce, ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { areZero, COUNT_SLOTS } from "../../usage/count-fields.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import { isNothing, type Usage } from "../../usage/usage.ts";
import {
  hasInclusive,
  isSelected,
  NONE,
  someCountElsewhere,
  usageStartOf,
  type CallTable,
} from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import { UsageEntries } from "../table/usage-entries.ts";
import { rollUpSteps, type OwnUsage } from "./rollup.ts";
import { usageOf } from "./used.ts";

/**
 * Computes what each call adds to the total of its trace. An inclusive call adds what its children do not explain. If several
 * calls of the trace report one completion, only the winner adds it. What counts elsewhere adds nothing. The sum over a trace is the total of its roots. Valid as
 * long as the table. Cost and errors: as `rollUp`.
 */
export function* ownUsageSteps(calls: CallTable, names: LlmDictionary): Steps<OwnUsage & Disposable> {
  const { counts, units } = calls.usage;
  if (calls.completionOf === undefined && !hasInclusive(calls) && !someCountElsewhere(calls))
    return { counts, units, [Symbol.dispose]: () => undefined };
  const own = { counts: new Float64Array(calls.usage.length * COUNT_SLOTS), units: new Map() };
  using _totals = yield* rollUpSteps(calls, names, undefined, own);
  return { ...own, [Symbol.dispose]: () => release(own.counts) };
}

interface ReadCalls {
  readonly calls: CallTable;
  readonly names: LlmDictionary;
}

/** Yields requested calls with their own usage by LLM. Cost and errors: as `rollUp`. */
export function* ownUsages(
  read: ReadCalls,
  isRequested: (call: number) => boolean,
): Generator<readonly [call: number, usages: readonly Usage[]]> {
  using own = atOnce(ownUsageSteps(read.calls, read.names));
  for (let call = 0; call < read.calls.count; call++)
    if (isRequested(call)) yield [call, usedBy(call, own, read)];
}

/** Passes each selected call with its own usage to `take`, in steps. */
export function* eachOwnUsage(
  read: ReadCalls,
  take: (call: number, usages: readonly Usage[]) => void,
): Steps<void> {
  const { calls, names } = read;
  using own = yield* ownUsageSteps(calls, names);
  for (let call = 0; call < calls.count; call++) {
    if (call % ROWS_PER_STEP === 0) yield;
    if (isSelected(calls, call)) take(call, usedBy(call, own, read));
  }
}

function usedBy(call: number, own: OwnUsage, read: ReadCalls): readonly Usage[] {
  return usagesOf(call, own, read).filter((usage) => !isNothing(usage));
}

/** Decodes the usage entries of a call, as reported or as counted. */
export function usagesOf(call: number, { counts, units }: OwnUsage, read: ReadCalls): readonly Usage[] {
  const first = usageStartOf(read.calls, call);
  return Array.from({ length: read.calls.usageEnd[call]! - first }, (_, index) => {
    const used = first + index;
    return usageOf(used, { counts, at: used * COUNT_SLOTS, units: units.get(used) }, read);
  });
}

/** Replaces parents and usage of a table by own usage without parents, so that its roll-up yields own usage. */
export function* withOwnUsage(calls: CallTable, names: LlmDictionary): Steps<CallTable> {
  using own = yield* ownUsageSteps(calls, names);
  const usage = new UsageEntries();
  const usageEnd = new Int32Array(calls.count);
  usage.reserve(calls.usage.length);
  for (let call = 0; call < calls.count; call++) {
    for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
      if (!areZero(own.counts, used) || hasNonTokenUnits(own.units.get(used)))
        usage.copy(calls.usage, used, own);
    }
    usageEnd[call] = usage.length;
  }
  release(calls.usageEnd);
  calls.usage[Symbol.dispose]();
  return { ...calls, parents: calls.parents.fill(NONE), usage, usageEnd, completionOf: undefined };
}
