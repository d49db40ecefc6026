import type { Total } from "../numbers/usage.ts";

const OPS = [">", "≥", "<", "≤"] as const;

/** A condition on what a trace cost, with everything below its root. */
export interface CostFilter {
  readonly op: (typeof OPS)[number];
  readonly usd: number;
}

/** `≥0.1`, as in an address. Undefined: not a condition. */
export function readCostFilter(text: string | undefined): CostFilter | undefined {
  const op = OPS.find((one) => text?.startsWith(one) === true);
  const digits = text?.slice(op?.length).trim() ?? "";
  const usd = Number(digits);
  return op === undefined || digits === "" || !Number.isFinite(usd) ? undefined : { op, usd };
}

export function printCostFilter({ op, usd }: CostFilter): string {
  return `${op}${usd}`;
}

/** An unknown cost matches nothing; one that is known in part is a lower bound. */
export function isWanted(filter: CostFilter | undefined, { usd, unpriced }: Total): boolean {
  if (filter === undefined) return true;
  if (usd === null) return false;
  const { op, usd: limit } = filter;
  if (op === ">") return usd > limit;
  if (op === "≥") return usd >= limit;
  return unpriced.length === 0 && (op === "<" ? usd < limit : usd <= limit);
}
