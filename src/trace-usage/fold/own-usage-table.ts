import { release } from "../../shared/buffers.ts";
import { areZero } from "../../usage/count-fields.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import { NONE, usageStartOf, type CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import { UsageEntries } from "../table/usage-entries.ts";
import { ownUsage, releaseOwn } from "./own-usage.ts";

/**
 * Builds a table of the same calls without parents, each with its own usage, so that its roll-up yields own usage. Consumes
 * the given table. Cost and errors: as `ownUsage`.
 */
export function ownUsageTable(calls: CallTable, names: LlmDictionary): CallTable {
  const own = ownUsage(calls, names);
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
  releaseOwn(own, calls);
  release(calls.parents, calls.usageEnd);
  if (calls.completionOf !== undefined) release(calls.completionOf);
  calls.usage.release();
  const parents = new Int32Array(calls.count).fill(NONE);
  return { ...calls, parents, usage, usageEnd, completionOf: undefined };
}
