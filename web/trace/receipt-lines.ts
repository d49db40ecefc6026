import type { Receipt } from "../api/routes.ts";
import { formatUsd } from "../format/figure.ts";
import { toPicodollar, type Total } from "../format/usage.ts";

type Line = Receipt["lines"][number];

/** The units of rows and totals. Others, such as searches, are no tokens; receipts and usage over time show them. */
export function isOfTokens({ cost }: Pick<Line, "cost">): boolean {
  return cost !== "other_cost";
}

/** `cache_read_input_tokens` is shown as `cache read input tokens`. */
export function unitName(unit: string): string {
  return unit.replaceAll("_", " ");
}

/** $2.50 / M for tokens, $0.01 each for the rest. */
export function rateOf({ unit, rate_usd }: Pick<Line, "unit" | "rate_usd">): string {
  if (rate_usd === null) return "";
  return unit.endsWith("_tokens")
    ? `${formatUsd(toPicodollar(rate_usd * 1e6)).text} / M`
    : `${formatUsd(rate_usd).text} each`;
}

/** The project has set a cost factor. */
export function areBilled(lines: readonly Pick<Line, "factor">[]): boolean {
  return lines.some(({ factor }) => factor !== null);
}

/** Null where none of them has a price. */
export function sumOfLines<Member extends "amount_usd" | "billed_usd">(
  lines: readonly Pick<Line, "llm" | Member>[],
  member: Member,
): Pick<Total, "usd" | "unpriced"> {
  const known = lines.flatMap((line) => line[member] ?? []);
  const unpriced = lines.filter((line) => line[member] === null).map(({ llm }) => llm);
  const usd =
    known.length === 0 && unpriced.length > 0 ? null : toPicodollar(known.reduce((sum, one) => sum + one, 0));
  return { usd, unpriced: [...new Set(unpriced)].toSorted() };
}
