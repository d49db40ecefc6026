import { isoOf } from "../shared/instant.ts";
import type { BuiltInPrices } from "./list/built-in-prices.ts";
import type { PricedUsage } from "../usage/usage.ts";
import { costLines, type CostLine } from "./cost-of-call.ts";
import { modelNames } from "./list/model-names.ts";
import { inUsd } from "./picodollars.ts";
import type { ListedModel } from "./list/price-list.ts";
import type { Rates, TokenPrices } from "./rates.ts";
import { unitNames } from "../usage/units.ts";
import { pricedUnits } from "./units.ts";

export interface PriceQuery {
  readonly llmId: string;
  /** Microseconds since the epoch. */
  readonly atUs: number;
  readonly usage: PricedUsage | undefined;
}

/** Explains, as text for people, which entry of the public list prices a model at an instant, its rates, and a bill for a
 * usage. */
export function explainPrice(builtIn: BuiltInPrices, { llmId, atUs, usage }: PriceQuery): string {
  const entry = builtIn.find(llmId);
  if (entry === null) {
    const tried = modelNames(llmId).map(({ id, seller }) =>
      seller === undefined ? id : `${id} at ${seller}`,
    );
    return `${llmId}: no entry. Its costs are null.\nTried: ${tried.join(", ")}`;
  }
  const { rates } = entry.schedule(atUs);
  const lines = [
    `${llmId}: ${entry.provider}/${entry.model} of ${entry.list}`,
    ...correctionLines(entry, atUs),
  ];
  if (rates === null) return [...lines, "No token price then. Its costs are null."].join("\n");
  lines.push(`At ${isoOf(atUs)}, USD:`, ...rateLines(rates.base));
  for (const tier of rates.tiers)
    lines.push(`Above ${tier.aboveTokens} input tokens, for all tokens:`, ...rateLines(tier.prices));
  return [...lines, ...(usage === undefined ? [] : billLines(usage, rates))].join("\n");
}

function correctionLines({ correction, adjustments }: ListedModel, atUs: number): readonly string[] {
  const [first] = correction?.periods ?? [];
  const isCorrected = first !== undefined && Date.parse(first.from) * 1000 <= atUs;
  const inForce = isCorrected
    ? [correction!]
    : adjustments.filter(({ from }) => from === undefined || Date.parse(from) * 1000 <= atUs);
  return inForce.flatMap(({ why, source, checked }) => [
    `Corrected here: ${why}`,
    `Source: ${source}, seen ${checked}`,
  ]);
}

const perMillion = 1_000_000;

function rateLines(prices: TokenPrices): readonly string[] {
  const tokens = [
    ["uncached_prompt_tokens", prices.prompt],
    ["completion_tokens", prices.completion],
    ["cache_read_input_tokens", prices.cacheRead],
    ["cache_creation_input_tokens", prices.cacheCreation],
  ] as const;
  const units = unitNames.flatMap((unit) => {
    const price = prices.units?.[unit];
    return price === undefined ? [] : [rateLine(unit, price, pricedUnits[unit].per)];
  });
  return [
    ...tokens.map(([unit, price]) => rateLine(unit, price, perMillion)),
    ...units,
    ...(prices.request === undefined ? [] : [rateLine("requests", prices.request, 1_000)]),
  ];
}

function rateLine(unit: string, price: number | null, per: number): string {
  const rate = price === null ? "not known" : `${inUsd(price * per)} per ${per.toLocaleString("en-US")}`;
  return `  ${unit.padEnd(28)} ${rate}`;
}

function billLines(usage: PricedUsage, rates: Rates): readonly string[] {
  const lines = costLines(usage, rates);
  const known = lines.filter((line) => line.price !== null);
  const total = known.reduce((sum, { quantity, price }) => sum + quantity * price!, 0);
  const unknown = lines.length - known.length;
  return [
    "Bill, USD:",
    ...lines.map(billLine),
    `  ${"total".padEnd(28)} ${inUsd(total)}${unknown === 0 ? "" : ` and ${unknown} units without a price`}`,
  ];
}

function billLine({ unit, kind, quantity, price }: CostLine): string {
  const per = kind === "other" ? 1_000 : perMillion;
  const rate = `× ${inUsd((price ?? 0) * per)} per ${per.toLocaleString("en-US")}`;
  const amount = price === null ? "not known" : `${rate} = ${inUsd(quantity * price)}`;
  return `  ${unit.padEnd(28)} ${quantity} ${amount}`;
}
