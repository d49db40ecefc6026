import type { BudgetState } from "../../src/budgets/budget-state.ts";
import { NOTHING, type Amounts, type Budget } from "../../src/budgets/budget.ts";
import type { Project } from "../../src/shared/project.ts";

/** In attodollars. */
export const USD = 10n ** 18n;
export const DAY_START_MS = Date.UTC(2026, 10, 29);
const DAY_MS = 86_400_000;

/** A budget of 10 USD a day. */
export const BUDGET: Budget = {
  id: "b1",
  project: "acme/app" as Project,
  name: null,
  scope: "project",
  match: "*",
  limit: { usd: 10n * USD, tokens: null, requests: null },
  window: "day",
  timezone: "UTC",
  onUnknownPrice: "refuse",
  alerts: [0.5, 0.8, 1],
};

export interface Spending {
  readonly value?: string;
  readonly spent?: Partial<Amounts>;
  readonly held?: Partial<Amounts>;
  /** Days after the first window. */
  readonly day?: number;
}

export function stateOf(budget: Partial<Budget>, { value, spent, held, day = 0 }: Spending): BudgetState {
  const startUs = (DAY_START_MS + day * DAY_MS) * 1000;
  return {
    budget: { ...BUDGET, ...budget },
    value: value ?? null,
    window:
      budget.window === null ? { startUs: 0, endUs: null } : { startUs, endUs: startUs + DAY_MS * 1000 },
    spent: { ...NOTHING, ...spent },
    held: { ...NOTHING, ...held },
    unpricedRequests: 0,
  };
}
