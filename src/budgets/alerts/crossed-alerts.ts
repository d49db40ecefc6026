import { hash } from "node:crypto";
import type { BudgetState } from "../budget-state.ts";
import { UNITS, type Unit } from "../budget.ts";

/** A fraction of a limit that the spent amount has reached. */
export interface CrossedAlert {
  /** The same for the same budget, value, window, fraction and limit. */
  readonly id: string;
  readonly fraction: number;
  /** First unit of `UNITS` that reached the fraction. */
  readonly unit: Unit;
  readonly state: BudgetState;
}

/** Returns what the sums have reached, lowest fractions of a budget first. A limit of 0 is reached when anything is spent. */
export function crossedAlerts(states: readonly BudgetState[]): CrossedAlert[] {
  return states.flatMap((state) =>
    state.budget.alerts.flatMap((fraction) => {
      const unit = UNITS.find((one) => isReached(state.spent[one], state.budget.limit[one], fraction));
      return unit === undefined ? [] : [{ id: alertId(state, fraction), fraction, unit, state }];
    }),
  );
}

/** Fractions have nine decimals. */
const WHOLE = 1_000_000_000;

/** True if spent ≥ fraction × limit, exactly: 0.8 × 10 is 8. */
function isReached(spent: bigint | number, limit: bigint | number | null, fraction: number): boolean {
  if (limit === null || spent <= 0) return false;
  return BigInt(spent) * BigInt(WHOLE) >= BigInt(limit) * BigInt(Math.round(fraction * WHOLE));
}

/** A changed limit is another one to reach, so the id depends on it, but not on the name. */
function alertId({ budget, value, window }: BudgetState, fraction: number): string {
  const { usd, tokens, requests } = budget.limit;
  const key = [budget.project, budget.id, value, window.startUs, fraction, String(usd), tokens, requests];
  return `msg_${hash("sha256", JSON.stringify(key), "base64url").slice(0, 32)}`;
}
