import { countSlots } from "../../usage/count-fields.ts";
import type { UnitCounts } from "../../usage/units.ts";
import type { Usage } from "../../usage/usage.ts";
import type { CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";

/** Decodes a usage entry with other counts, at `at`, and units. */
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
