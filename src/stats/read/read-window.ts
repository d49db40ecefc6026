import type { Engine } from "../../store/engine.ts";
import type { CallsPlan } from "../../trace-usage/plan.ts";
import { readCalls, type ExtraColumns } from "../../trace-usage/read-calls.ts";
import type { CallTable } from "../../trace-usage/table/call-table.ts";
import type { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import type { Steps } from "../../shared/steps.ts";
import { inTurns } from "../../fairness/turns.ts";
import { AppError } from "../../shared/errors.ts";
import { CallColumns } from "./call-columns.ts";
import type { WindowPlan } from "../plan/plan-stats.ts";

export interface WindowLimits {
  /** Maximum number of calls read for one response. */
  readonly maxCalls: number;
  readonly signal: AbortSignal;
}

export interface WindowToFold {
  readonly plan: WindowPlan;
  readonly names: LlmDictionary;
  /** Called with the calls of some whole traces. */
  readonly fold: { add(calls: CallTable, columns: CallColumns): Steps<void> };
}

/**
 * Reads the traces of the selected calls of a window, whole, because a call's own usage depends on the other calls. Errors:
 * `StorageError`; too_many_calls.
 */
export async function foldCalls(
  engine: Engine,
  { plan, names, fold }: WindowToFold,
  calls: CallsPlan,
  { maxCalls, signal }: WindowLimits,
): Promise<void> {
  if (plan.buckets.startsUs.length === 0) return;
  const columns: ExtraColumns<CallColumns> = {
    select: (selected) => CallColumns.select(plan, selected),
    open(bytes) {
      const more = new CallColumns(bytes, plan);
      return { more, readBlock: more.readBlock };
    },
  };
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const found = await readCalls(engine, calls, { names, columns, forOwn: true, maxCalls, tooMany, signal });
  for await (using table of found.tables) await inTurns(fold.add(table.calls, table.more));
}

function tooManyCalls(what: string, maxCalls: number): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${what}; a response reads at most ${maxCalls}. ` +
      "Use a shorter window or select fewer calls.",
  );
}
