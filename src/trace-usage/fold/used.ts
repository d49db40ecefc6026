import { COUNT_SLOTS, countSlots } from "../../usage/count-fields.ts";
import { lessUnits, type UnitCounts } from "../../usage/units.ts";
import type { Usage } from "../../usage/usage.ts";
import type { CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";

/** Counts in their slots, and other units. */
export interface Used {
  readonly counts: Float64Array;
  units: UnitCounts | undefined;
}

/** Subtracts the common share from both the reported and the explained counts. */
export function subtractCommon(explained: Used, own: Used): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) {
    const common = Math.min(explained.counts[slot]!, own.counts[slot]!);
    explained.counts[slot]! -= common;
    own.counts[slot]! -= common;
  }
  const reported = own.units;
  own.units = lessUnits(reported, explained.units);
  explained.units = lessUnits(explained.units, reported);
}

/** Decodes a usage entry with other counts, at `at`, and units. Written out because the roll-up makes one for every entry. */
export function usageOf(
  used: number,
  own: { readonly counts: Float64Array; readonly at: number; readonly units: UnitCounts | undefined },
  { calls: { usage }, names }: { readonly calls: CallTable; readonly names: LlmDictionary },
): Usage {
  const { counts, at, units } = own;
  return {
    requests: counts[at + countSlots.requests]!,
    promptTokens: counts[at + countSlots.promptTokens]!,
    completionTokens: counts[at + countSlots.completionTokens]!,
    totalTokens: counts[at + countSlots.totalTokens]!,
    cacheReadTokens: counts[at + countSlots.cacheReadTokens]!,
    cacheCreationTokens: counts[at + countSlots.cacheCreationTokens]!,
    llm: names.textOf(usage.llms[used]!),
    cacheOutsidePrompt: usage.cacheOutsidePrompt[used] === 1,
    units,
    service: names.services.serviceOf(usage.services[used]!),
  };
}
