import { release } from "../../shared/buffers.ts";
import { atOnce, ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { isNothing, type Usage } from "../../usage/usage.ts";
import { inclusiveOf, isSelected, usageStartOf, type CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import { releaseRolledUp, rollUpSteps, type OwnUsage } from "./rollup.ts";
import { usageOf } from "./usage-of.ts";

/**
 * Computes what each call adds to the total of its trace. An inclusive call adds what its children do not explain. If several
 * calls of the trace report one completion, only the most exact one adds it. The sum over a trace is the total of its roots.
 * Valid as long as the table. Cost and errors: as `rollUp`.
 */
export function ownUsage(calls: CallTable, names: LlmDictionary): OwnUsage {
  return atOnce(ownUsageSteps(calls, names));
}

/** Like `ownUsage`, in steps. */
export function* ownUsageSteps(calls: CallTable, names: LlmDictionary): Steps<OwnUsage> {
  const { counts, units } = calls.usage;
  if (calls.completionOf === undefined && !hasInclusive(calls)) return { counts, units };
  const own = { counts: new Float64Array(calls.usage.length * COUNT_SLOTS), units: new Map() };
  releaseRolledUp(yield* rollUpSteps(calls, names, undefined, own));
  return own;
}

/** Yields requested calls with their own usage by LLM. Cost and errors: as `rollUp`. */
export function* ownUsages(
  read: ReadCalls,
  isRequested: (call: number) => boolean,
): Generator<readonly [call: number, usages: readonly Usage[]]> {
  const own = ownUsage(read.calls, read.names);
  for (let call = 0; call < read.calls.count; call++)
    if (isRequested(call)) yield [call, usedBy(call, own, read)];
  releaseOwn(own, read.calls);
}

/** Passes each selected call with its own usage to `take`, in steps. */
export function* eachOwnUsage(
  read: ReadCalls,
  take: (call: number, usages: readonly Usage[]) => void,
): Steps<void> {
  const { calls, names } = read;
  const own = yield* ownUsageSteps(calls, names);
  for (let call = 0; call < calls.count; call++) {
    if (call % ROWS_PER_STEP === 0) yield;
    if (isSelected(calls, call)) take(call, usedBy(call, own, read));
  }
  releaseOwn(own, calls);
}

interface ReadCalls {
  readonly calls: CallTable;
  readonly names: LlmDictionary;
}

function usedBy(call: number, own: OwnUsage, read: ReadCalls): readonly Usage[] {
  return usagesOf(call, own, read).filter((usage) => !isNothing(usage));
}

/** Releases own usage unless it is part of the table. */
export function releaseOwn(own: OwnUsage, calls: CallTable): void {
  if (own.counts !== calls.usage.counts) release(own.counts);
}

/** Decodes the usage entries of a call, as reported or as counted. */
export function usagesOf(
  call: number,
  { counts, units }: Pick<OwnUsage, "counts" | "units">,
  read: ReadCalls,
): readonly Usage[] {
  const first = usageStartOf(read.calls, call);
  return Array.from({ length: read.calls.usageEnd[call]! - first }, (_, index) => {
    const used = first + index;
    return usageOf(used, { counts, at: used * COUNT_SLOTS, units: units.get(used) }, read);
  });
}

function hasInclusive(calls: CallTable): boolean {
  for (let call = 0; call < calls.count; call++) if (inclusiveOf(calls, call) !== false) return true;
  return false;
}
