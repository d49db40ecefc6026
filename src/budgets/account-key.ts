import type { TimeWindow } from "../buckets/buckets.ts";
import type { Budget } from "./budget.ts";

/** Identity of an account: one value of a budget in one window. */
export interface AccountKey {
  readonly budget: Budget;
  /** Null for the one project. */
  readonly value: string | null;
  readonly window: TimeWindow;
}
