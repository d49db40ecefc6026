import { COST_MEMBERS, COUNT_MEMBERS } from "../../stats/plan/members.ts";
import { Sums } from "../../stats/sums/sums.ts";
import type { Unpriced } from "../../stats/sums/unpriced.ts";
import { usdText } from "../../stats/sums/usd.ts";

/** Prints a total as JSON, with every digit. */
export function totalText(sums: Sums, row: number, withCosts: boolean): string {
  const counts = COUNT_MEMBERS.map((name, slot) => `"${name}":${sums.countOf(row, slot)}`);
  const costs = COST_MEMBERS.map((name, slot) => {
    const cost = sums.costOf(row, slot);
    return `"${name}":${cost === null ? "null" : usdText(cost)}`;
  });
  return `{${[...counts, ...(withCosts ? costs : [])].join(",")}}`;
}

/** Sums rows into new sums with one row. */
export function sumOf(sums: Sums, rows: Iterable<number>, withCosts: boolean): Sums {
  const total = Sums.ofRows(1, { withCosts });
  for (const row of rows) total.addFrom(sums, row, 0);
  return total;
}

export function unpricedText(unpriced: Unpriced, withCosts: boolean): string {
  if (!withCosts) return "null";
  return JSON.stringify(
    unpriced.list().map(({ llm, provider, tier }) => ({ llm, provider, service_tier: tier })),
  );
}
