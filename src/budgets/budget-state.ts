import type { Amounts, Budget } from "./budget.ts";

/** Spent and held amounts of a budget in its current window. */
export interface BudgetState {
  readonly budget: Budget;
  /** Value of the scope; null for the one project. */
  readonly value: string | null;
  /** In microseconds since the epoch; `endUs` is null for ever. */
  readonly window: { readonly startUs: number; readonly endUs: number | null };
  /** Recorded usage, as `/usage/stats` says. */
  readonly spent: Amounts;
  /** Worst case of open requests. */
  readonly held: Amounts;
  /** Spent requests without a known price, whose dollars count as 0. */
  readonly unpricedRequests: number;
}
