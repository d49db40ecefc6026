import { EACH, NOTHING, plus, type Amounts, type Budget, type Limit, type Unit } from "./budget.ts";
import type { BudgetState } from "./budget-state.ts";
import { usdNumber } from "./usd.ts";

type LimitMembers = Readonly<Record<Unit, number | null>>;
type AmountMembers = Readonly<Record<Unit, number>>;

export function amountMembers({ usd, tokens, requests }: Amounts): AmountMembers {
  return { usd: usdNumber(usd), tokens, requests };
}

export function limitMembers(limit: Limit): LimitMembers {
  return { ...limit, usd: limit.usd === null ? null : usdNumber(limit.usd) };
}

/** When a window ends, in RFC 3339; null for ever. */
export function resetsAt(budget: Budget, { endUs }: { readonly endUs: number | null }): string | null {
  return budget.window === null || endUs === null ? null : new Date(endUs / 1000).toISOString();
}

/** Prints a budget as responses do. */
export function budgetMembers({ project, limit, onUnknownPrice, alerts, ...others }: Budget) {
  return {
    ...others,
    project_id: project as string,
    limit: limitMembers(limit),
    on_unknown_price: onUnknownPrice,
    alerts: [...alerts],
  };
}

/** Prints a budget with what is spent and held, and of `EACH` with its values, the largest first. */
export function budgetWithStates(budget: Budget, endUs: number, states: readonly BudgetState[]) {
  const sum = (amountsOf: (state: BudgetState) => Amounts): AmountMembers =>
    amountMembers(states.map(amountsOf).reduce<Amounts>(plus, NOTHING));
  const resets_at = resetsAt(budget, { endUs });
  const isEach = budget.scope !== "project" && budget.match === EACH;
  return {
    ...budgetMembers(budget),
    spent: sum(({ spent }) => spent),
    held: sum(({ held }) => held),
    resets_at,
    unpriced_requests: states.reduce((all, { unpricedRequests }) => all + unpricedRequests, 0),
    ...(isEach && {
      values: states.toSorted(byUsage).map(({ value, spent, held }) => ({
        value: value!,
        spent: amountMembers(spent),
        held: amountMembers(held),
        resets_at,
      })),
    }),
  };
}

function byUsage({ spent: one }: BudgetState, { spent: other }: BudgetState): number {
  return Number(other.usd - one.usd) || other.tokens - one.tokens || other.requests - one.requests;
}
