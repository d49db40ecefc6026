import { addMoney, NO_MONEY, type Money } from "../prices/money.ts";
import { COUNT_MEMBERS, TOTAL_COST_SLOT, WASTED_COST_SLOT } from "../usage-rollup/total-members.ts";
import type { Sums } from "../usage-rollup/sums.ts";

/** Totals of one trace or several. */
export interface Figures {
  readonly calls: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly tokens: number;
  readonly cost: Money;
  /** Own cost of failed calls and the calls below them. */
  readonly wasted: Money;
}

export const NO_FIGURES: Figures = {
  calls: 0,
  failed: 0,
  unfinished: 0,
  tokens: 0,
  cost: NO_MONEY,
  wasted: NO_MONEY,
};

export function addFigures(one: Figures, other: Figures): Figures {
  return {
    calls: one.calls + other.calls,
    failed: one.failed + other.failed,
    unfinished: one.unfinished + other.unfinished,
    tokens: one.tokens + other.tokens,
    cost: addMoney(one.cost, other.cost),
    wasted: addMoney(one.wasted, other.wasted),
  };
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
    cost: sums.moneyOf(row, TOTAL_COST_SLOT),
    wasted: sums.moneyOf(row, WASTED_COST_SLOT),
  };
}
