import type { AggregateTable } from "./aggregates.ts";
import type { Groups } from "./groups.ts";
import type { Unpriced } from "./unpriced.ts";

/** Sums of a window by group and bucket. */
export interface StatsFold {
  readonly groups: Groups;
  readonly aggregates: AggregateTable;
  readonly unpriced: Unpriced;
}
