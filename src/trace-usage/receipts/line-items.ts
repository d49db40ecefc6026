import type { CostFactor, CostFactors } from "../../prices/project/cost-factors.ts";
import { costFields } from "../../prices/cost-fields.ts";
import { costLines, inputOfRequest, type CostLine } from "../../prices/cost-of-call.ts";
import type { FoundPrice, PriceBook } from "../../prices/price-book.ts";
import { tierFor } from "../../prices/rates.ts";
import type { Contribution } from "./contributions.ts";
import { isoOf } from "../../shared/instant.ts";

/** A line of a receipt. */
export interface LineItem {
  readonly of: "own" | "below";
  readonly llm: string;
  /** Who served it, under the name that the call gives; null if unknown. */
  readonly provider: string | null;
  readonly unit: CostLine["unit"];
  /** The member of a total that it is part of. */
  readonly cost: (typeof costFields)[number]["wire"];
  readonly quantity: number;
  /** Picodollars for one. */
  readonly rate: number | null;
  readonly price: LinePrice | null;
  readonly tier: string;
  readonly tier_decided_by: string;
  /** What is paid per dollar of list cost; null: a dollar. */
  readonly factor: LineFactor | null;
}

type LineFactor = Pick<CostFactor, "id" | "factor"> & {
  readonly provider: string | null;
  readonly effective_date: string;
};

/** What a receipt needs to know. */
export interface Rules {
  readonly book: PriceBook;
  readonly factors: CostFactors;
  /** Of each call, microseconds since the epoch. */
  readonly startedAtUs: Float64Array;
}

interface LinePrice {
  /** `project`, the name of the list, or `unbilled` for what the provider does not charge. */
  readonly source: string;
  readonly id: string;
  readonly effective_date: string | null;
}

const wireOf = Object.fromEntries(costFields.map(({ kind, wire }) => [kind, wire])) as Record<
  CostLine["kind"],
  LineItem["cost"]
>;

/** The lines of some parts. Parts below the call are added up if they cost the same for the same reason. */
export function lineItemsOf(
  parts: readonly Contribution[],
  of: LineItem["of"],
  rules: Rules,
): readonly LineItem[] {
  const lines = parts.flatMap((part) => linesOfPart(part, of, rules));
  return of === "own" ? lines : addedUp(lines);
}

function linesOfPart({ call, usage }: Contribution, of: LineItem["of"], rules: Rules): readonly LineItem[] {
  const { book, factors, startedAtUs } = rules;
  const atUs = startedAtUs[call]!;
  const found = book.priceOf(usage.llm, atUs, usage.service);
  const factor = factors.at(book.providerOf(usage.llm, atUs, usage.service), atUs);
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
    factor: factor === undefined ? null : factorOf(factor),
  }));
}

function decidedBy(serviceTier: string | undefined, above: number | undefined): string {
  const service = serviceTier ? "the service tier as served" : "no other service tier was served";
  return above === undefined ? service : `${service}; the input of a request, cached tokens included`;
}

function factorOf({ id, provider, factor, effectiveAtUs }: CostFactor): LineFactor {
  return { id, provider: provider || null, factor, effective_date: isoOf(effectiveAtUs) };
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

/** Combines lines that only differ in quantity. */
function addedUp(lines: readonly LineItem[]): readonly LineItem[] {
  const same = Map.groupBy(lines, (line) => JSON.stringify({ ...line, quantity: 0 }));
  return [...same.values()].map((group) => ({
    ...group[0]!,
    quantity: group.reduce((sum, line) => sum + line.quantity, 0),
  }));
}

/** The list cost of a line, in picodollars. */
export function amountOf({ quantity, rate }: LineItem): number | null {
  return rate === null ? null : quantity * rate;
}

/** What is paid for it, rounded to a picodollar, because the total is the sum of its lines. */
export function billedOf(line: LineItem): number | null {
  const amount = amountOf(line);
  return amount === null || line.factor === null ? amount : Math.round(amount * line.factor.factor);
}
