import { AppError } from "../shared/errors.ts";
import { heldBeside, type Account } from "./account.ts";
import { plus, UNITS, type Amounts, type Budget, type Limit, type Unit } from "./budget.ts";
import { limitMembers, amountMembers, resetsAt } from "./members.ts";
import type { AccountKey } from "./account-key.ts";
import { decimalUsd } from "./usd.ts";

/** The most that a request may use. */
export interface WorstCase {
  /** In attodollars; null if a price or a tier is unknown. */
  readonly usd: bigint | null;
  /** Prompt and completion tokens. */
  readonly tokens: number;
}

/** An account that a request needs, with what it would hold there. */
export interface Needed {
  readonly key: AccountKey;
  readonly account: Account;
  readonly amounts: Amounts;
}

type Verdict = "passes" | "held" | "exceeded";

/** Returns the amounts that a request holds in an account. Throws unknown_price. */
export function amountsOf({ usd, tokens }: WorstCase, budget: Budget): Amounts {
  if (usd === null && budget.limit.usd !== null && budget.onUnknownPrice === "refuse")
    throw new AppError(
      "unknown_price",
      `${nameOf(budget)} is in dollars, and the price of this model or service tier is unknown.`,
      {
        facts: { budget: budget.id, scope: budget.scope },
      },
    );
  return { usd: usd ?? 0n, tokens, requests: 1 };
}

/** Throws `budget_exceeded` or `budget_held` if an account has too little left for what a request would hold. */
export function checkAccounts(needed: readonly Needed[]): void {
  const verdicts = needed.flatMap((one) =>
    UNITS.map((unit) => ({ ...one, unit, verdict: verdictOf(one, unit) })),
  );
  const refusal =
    verdicts.find(({ verdict }) => verdict === "exceeded") ??
    verdicts.find(({ verdict }) => verdict === "held");
  if (refusal !== undefined) throw refusalOf(refusal, refusal.unit, refusal.verdict);
}

/**
 * Equality passes. A limit of 0 lets nothing pass, not even what is free. Nobody retries after "exceeded", so only the store
 * decides that: what ended meanwhile may count twice.
 */
function verdictOf({ key, account, amounts }: Needed, unit: Unit): Verdict {
  const limit = key.budget.limit[unit];
  if (limit === null) return "passes";
  const needed = BigInt(account.recorded![unit]) + BigInt(amounts[unit]);
  if (needed > BigInt(limit) || BigInt(limit) === 0n) return "exceeded";
  const others = [account.unread, account.held, account.reserved].reduce(
    (sum, one) => sum + BigInt(one[unit]),
    0n,
  );
  return needed + others > BigInt(limit) ? "held" : "passes";
}

const RETRY_HELD_SECONDS = 2;

function refusalOf({ key, account, amounts }: Needed, unit: Unit, verdict: Verdict): AppError {
  const { budget, value, window } = key;
  const [spent, limit] = [account.recorded!, budget.limit];
  const held = heldBeside(spent, { held: account.held, ended: account.unread }, limit);
  const facts = {
    budget: budget.id,
    scope: budget.scope,
    value,
    unit,
    limit: limitMembers(limit),
    spent: amountMembers(spent),
    held: amountMembers(held),
    resets_at: resetsAt(budget, window),
  };
  const of = `${textOf(spent, unit)} of ${textOf(limit, unit)} spent`;
  const needs = `This request may use ${textOf(amounts, unit)}.`;
  if (verdict === "held")
    return new AppError(
      "budget_held",
      `${nameOf(budget)}: ${of}, and open requests hold ${textOf(held, unit)}. ${needs} Retry when they have ended.`,
      { facts, retryAfterSeconds: RETRY_HELD_SECONDS },
    );
  const until = facts.resets_at === null ? "It does not reset." : `It resets at ${facts.resets_at}.`;
  return new AppError("budget_exceeded", `${nameOf(budget)}: ${of}. ${needs} ${until}`, { facts });
}

function nameOf({ name, scope }: Budget): string {
  return name === null ? `Budget (${scope})` : `Budget "${name}" (${scope})`;
}

function textOf(amounts: Limit, unit: Unit): string {
  if (unit === "usd") return `$${decimalUsd(amounts.usd ?? 0n)}`;
  return `${amounts[unit]} ${unit}`;
}

/** Headers that tell what is left of the tightest account after a request's hold. */
export function headersOf(needed: readonly Needed[]): Readonly<Record<string, string>> {
  const shares = needed.map(shareLeft);
  const tightest = needed[shares.indexOf(Math.min(...shares))];
  if (tightest === undefined) return {};
  const { budget, window } = tightest.key;
  const reset = resetsAt(budget, window);
  const parts = UNITS.filter((unit) => budget.limit[unit] !== null).map(
    (unit) => `${unit}=${leftText(tightest, unit)}`,
  );
  return {
    "x-sumtree-budget-remaining": parts.join("; "),
    ...(reset !== null && { "x-sumtree-budget-reset": reset }),
  };
}

function leftText(one: Needed, unit: Unit): string {
  const left = leftOf(one, unit);
  return unit === "usd" ? decimalUsd(left) : String(left);
}

function leftOf({ key, account }: Needed, unit: Unit): bigint {
  const used = plus(plus(account.spent!, account.ended), plus(account.held, account.reserved))[unit];
  const left = BigInt(key.budget.limit[unit]!) - BigInt(used);
  return left < 0n ? 0n : left;
}

/** The smallest part of a limit that is left. */
function shareLeft(one: Needed): number {
  const { limit } = one.key.budget;
  const units = UNITS.filter((unit) => limit[unit] !== null);
  return Math.min(...units.map((unit) => Number(leftOf(one, unit)) / Number(limit[unit])));
}
