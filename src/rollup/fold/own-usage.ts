import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { inclusiveOf, type CallTable } from "../table/call-table.ts";
import type { LlmNames } from "../table/llm-names.ts";
import { releaseRolledUp, rollUp, type OwnUsage } from "./rollup.ts";

/**
 * What each call adds to the total of its whole trace. An inclusive call adds what its children do not explain. If
 * several calls of the trace report one completion, only the most exact one adds it. The sum over a trace is the total of
 * its roots. It is valid as long as the table. Cost and errors: as `rollUp`.
 */
export function ownUsage(calls: CallTable, names: LlmNames): OwnUsage {
  const { counts, units } = calls.usage;
  if (calls.completionOf === undefined && !hasInclusive(calls)) return { counts, units };
  const own = { counts: new Float64Array(calls.usage.length * COUNT_SLOTS), units: new Map() };
  releaseRolledUp(rollUp(calls, names, undefined, own));
  return own;
}

function hasInclusive(calls: CallTable): boolean {
  for (let call = 0; call < calls.count; call++) if (inclusiveOf(calls, call) !== false) return true;
  return false;
}
