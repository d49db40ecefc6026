import { costFields } from "../../prices/cost-fields.ts";
import { costLines, inputOfRequest, type CostLine } from "../../prices/cost-of-call.ts";
import type { FoundPrice, PriceBook } from "../../prices/price-book.ts";
import { tierFor } from "../../prices/rates.ts";
import type { Usage } from "../../usage/usage.ts";
import { isoOf } from "../../shared/instant.ts";

/** Contribution of one call to a total for one LLM. */
export interface Contribution {
  readonly call: number;
  readonly usage: Usage;
}

/** Line item of a receipt. */
export interface LineItem {
  readonly of: "own" | "below";
  readonly llm: string;
  /** Provider as named by the call; null if unknown. */
  readonly provider: string | null;
  readonly unit: CostLine["unit"];
  /** Member of the total that includes it. */
  readonly cost: (typeof costFields)[number]["wire"];
  readonly quantity: number;
  /** Picodollars per unit. */
  readonly rate: number | null;
  readonly price: LinePrice | null;
  readonly tier: string;
  readonly tier_decided_by: string;
}

/** Prices and start times. */
export interface Rules {
  readonly book: PriceBook;
  /** Start of each call, in microseconds since the epoch. */
  readonly startedAtUs: Float64Array;
}

interface LinePrice {
  /** `project`, the name of the list, or `unbilled` if the provider does not charge. */
  readonly source: string;
  readonly id: string;
  readonly effective_date: string | null;
}

const wireOf = Object.fromEntries(costFields.map(({ kind, wire }) => [kind, wire])) as Record<
  CostLine["kind"],
  LineItem["cost"]
>;

/** Prices contributions. Sums those of descendants whose lines differ only in quantity. */
export function lineItemsOf(
  contributions: readonly Contribution[],
  of: LineItem["of"],
  rules: Rules,
): readonly LineItem[] {
  const lines = contributions.flatMap((contribution) => linesOf(contribution, of, rules));
  return of === "own" ? lines : sumLines(lines);
}

function linesOf({ call, usage }: Contribution, of: LineItem["of"], rules: Rules): readonly LineItem[] {
  const { book, startedAtUs } = rules;
  const atUs = startedAtUs[call]!;
  const found = book.priceOf(usage.llm, atUs, usage.service);
  const above = found === null ? undefined : tierFor(found.rates, inputOfRequest(usage))?.aboveTokens;
  const service = usage.service?.tier || "standard";
  const price = found === null ? null : priceOf(found);
  return costLines(usage, found?.rates ?? null).map((line) => ({
    of,
    llm: usage.llm,
    provider: usage.service?.provider || null,
    unit: line.unit,
    cost: wireOf[line.kind],
    quantity: line.quantity,
    rate: line.price,
    price: line.price === null ? null : price,
    tier: above === undefined ? service : `${service}, above ${above} input tokens`,
    tier_decided_by: decidedBy(usage.service?.tier, above),
  }));
}

function decidedBy(serviceTier: string | undefined, above: number | undefined): string {
  const service = serviceTier ? "the service tier as served" : "no other service tier was served";
  return above === undefined ? service : `${service}; the input of a request, cached tokens included`;
}

function priceOf({ origin }: FoundPrice): LinePrice {
  const date = (us: number | null): string | null => (us === null ? null : isoOf(us));
  if (origin.source === "unbilled") return { source: "unbilled", id: "refusal", effective_date: null };
  if (origin.source === "project") {
    const { id, effectiveAtUs } = origin.price;
    return { source: "project", id, effective_date: date(effectiveAtUs) };
  }
  const { list, provider, model } = origin.listed;
  return { source: list, id: `${provider}/${model}`, effective_date: date(origin.sinceUs) };
}

/** Sums lines that only differ in quantity. */
function sumLines(lines: readonly LineItem[]): readonly LineItem[] {
  const same = Map.groupBy(lines, (line) => JSON.stringify({ ...line, quantity: 0 }));
  return [...same.values()].map((group) => ({
    ...group[0]!,
    quantity: group.reduce((sum, line) => sum + line.quantity, 0),
  }));
}

/** Computes the list cost of a line, in picodollars. */
export function amountOf({ quantity, rate }: LineItem): number | null {
  return rate === null ? null : quantity * rate;
}
