import { PER_USD } from "../prices/picodollars.ts";
import { COUNT_MEMBERS, TOTAL_COST_SLOT, WASTED_COST_SLOT } from "../stats/plan/members.ts";
import type { Sums } from "../stats/sums/sums.ts";
import { usdText, type Usd } from "../stats/sums/usd.ts";
import { PER_PICODOLLAR } from "../usage-rollup/price-table.ts";

/** Sum of costs. */
export interface Cost {
  /** In 10^-18 USD, without what has no price. */
  readonly amount: bigint;
  readonly isUsed: boolean;
  /** True if something used has a price. */
  readonly isPriced: boolean;
  /** True if something used has no price. */
  readonly isPartial: boolean;
}

/** Totals of one trace or several. */
export interface Figures {
  readonly calls: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly tokens: number;
  readonly cost: Cost;
  /** Own cost of failed calls and the calls below them. */
  readonly wasted: Cost;
}

const NO_COST: Cost = { amount: 0n, isUsed: false, isPriced: false, isPartial: false };
export const NO_FIGURES: Figures = {
  calls: 0,
  failed: 0,
  unfinished: 0,
  tokens: 0,
  cost: NO_COST,
  wasted: NO_COST,
};

export function addFigures(one: Figures, other: Figures): Figures {
  return {
    calls: one.calls + other.calls,
    failed: one.failed + other.failed,
    unfinished: one.unfinished + other.unfinished,
    tokens: one.tokens + other.tokens,
    cost: addCosts(one.cost, other.cost),
    wasted: addCosts(one.wasted, other.wasted),
  };
}

export function addCosts(one: Cost, other: Cost): Cost {
  return {
    amount: one.amount + other.amount,
    isUsed: one.isUsed || other.isUsed,
    isPriced: one.isPriced || other.isPriced,
    isPartial: one.isPartial || other.isPartial,
  };
}

/** True if nothing used has a price; the cost is then null. */
export function isUnknown({ isUsed, isPriced }: Cost): boolean {
  return isUsed && !isPriced;
}

const [CALLS, FAILED] = [COUNT_MEMBERS.indexOf("calls"), COUNT_MEMBERS.indexOf("errors")];
const TOKENS = COUNT_MEMBERS.indexOf("total_tokens");

/** Returns a row of the sums of traces. */
export function figuresOf(sums: Sums, row: number, unfinished: number): Figures {
  return {
    calls: sums.countOf(row, CALLS),
    failed: sums.countOf(row, FAILED),
    unfinished,
    tokens: sums.countOf(row, TOKENS),
    cost: { ...costOf(sums.costOf(row, TOTAL_COST_SLOT), sums.isUsed(row)), isPartial: sums.isPartial(row) },
    wasted: costOf(sums.costOf(row, WASTED_COST_SLOT), sums.isWasted(row)),
  };
}

function costOf(cost: Usd | null, isUsed: boolean): Cost {
  const amount = cost === null ? 0n : amountOf(cost);
  return { amount, isUsed, isPriced: isUsed && cost !== null, isPartial: false };
}

function amountOf({ dollars, picodollars }: Usd): bigint {
  const whole = Math.floor(picodollars);
  const rest = Math.round((picodollars - whole) * PER_PICODOLLAR);
  return (
    BigInt(dollars) * BigInt(PER_USD * PER_PICODOLLAR) + BigInt(whole) * BigInt(PER_PICODOLLAR) + BigInt(rest)
  );
}

/** Prints a cost as a JSON number with every digit; null if unknown. */
export function costText(cost: Cost): string {
  return isUnknown(cost) ? "null" : usdText(usdOf(cost.amount));
}

/** Converts 10^-18 USD. */
export function usdOf(amount: bigint): Usd {
  const perUsd = BigInt(PER_USD) * BigInt(PER_PICODOLLAR);
  const [whole, rest] = [amount / perUsd, amount % perUsd];
  const perPicodollar = BigInt(PER_PICODOLLAR);
  const picodollars = Number(rest / perPicodollar) + Number(rest % perPicodollar) / PER_PICODOLLAR;
  return { dollars: Number(whole), picodollars };
}
