import { ownUsage } from "../fold/own-usage.ts";
import type { OwnUsage } from "../fold/rollup.ts";
import { usageOf } from "../fold/usage-of.ts";
import { usageStartOf, type CallTable } from "../table/call-table.ts";
import type { LlmNames } from "../table/llm-names.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { isNothing, type Usage } from "../../usage/usage.ts";

/** What one call adds to a total for one LLM. */
export interface Part {
  readonly call: number;
  readonly usage: Usage;
}

interface Read {
  readonly calls: CallTable;
  readonly names: LlmNames;
}

/** The usage entries of a call, as reported or as counted. */
export function usagesOf(
  call: number,
  own: Pick<OwnUsage, "counts" | "units">,
  read: Read,
): readonly Usage[] {
  const first = usageStartOf(read.calls, call);
  return Array.from({ length: read.calls.usageEnd[call]! - first }, (_, index) => {
    const used = first + index;
    const at = used * COUNT_SLOTS;
    return usageOf(used, { counts: own.counts, at, units: own.units.get(used) }, read);
  });
}

/** The parts that make up the total of a table's calls: each completion once, and for inclusive calls the remainder. */
export function partsOf({ calls, names }: Read): readonly Part[] {
  const own = ownUsage(calls, names);
  return Array.from({ length: calls.count }, (_, call) => call).flatMap((call) =>
    usagesOf(call, own, { calls, names })
      .filter((usage) => !isNothing(usage))
      .map((usage) => ({ call, usage })),
  );
}
