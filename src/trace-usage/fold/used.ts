import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { lessUnits, type UnitCounts } from "../../usage/units.ts";

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
