import type { Head } from "./heads.ts";
import { NO_PRICES, priceCuts } from "./price-cuts.ts";
import type { OwnUsageAsked } from "./question.ts";
import { readServed } from "./served.ts";
import { QUARTER_US, type Summing } from "./sum-entries.ts";

export interface SummingAsked extends Omit<OwnUsageAsked, "selection"> {
  readonly selection: Pick<OwnUsageAsked["selection"], "project">;
}

/**
 * How entries of some heads are added up: between the instants where the window and its buckets begin and end, and prices change.
 * By quarters of an hour, unless one of these instants lies between two of them. Undefined: there are too many.
 */
export function planSumming(
  { selection, window, buckets, question, book }: SummingAsked,
  heads: readonly Head[],
): readonly Summing[] | undefined {
  const used = heads.filter(({ entries }) => entries > 0);
  if (used.length === 0) return [];
  const firstUs = used.reduce((first, head) => Math.min(first, head.first_at), Infinity);
  const lastUs = used.reduce((last, head) => Math.max(last, head.last_at), -Infinity);
  const served = readServed(used.flatMap((head) => head.served));
  const prices = book === undefined ? NO_PRICES : priceCuts(book, served, { fromUs: firstUs, toUs: lastUs });
  if (prices === undefined) return undefined;
  const all = [window.startUs, window.endUs, ...buckets.startsUs, ...prices.instantsUs];
  const cuts = [...new Set(all)].filter((cut) => cut > firstUs && cut <= lastUs).sort((a, b) => a - b);
  const isUneven = unevenlyCut(cuts);
  const summing = {
    project: selection.project,
    question,
    cutsUs: [firstUs, ...cuts],
    prices,
    withUnits: served.some(({ hasUnits }) => hasUnits),
  };
  return [
    { ...summing, byQuarters: true, heads: used.filter((head) => !isUneven(head)) },
    { ...summing, byQuarters: false, heads: used.filter(isUneven) },
  ].filter((one) => one.heads.length > 0);
}

/** Whether a quarter of an hour in which some of a head's calls started is cut. */
export function unevenlyCut(
  cutsUs: readonly number[],
): (head: Pick<Head, "first_at" | "last_at">) => boolean {
  const uneven = cutsUs.filter((cut) => cut % QUARTER_US !== 0);
  return ({ first_at, last_at }) => {
    const fromUs = Math.floor(first_at / QUARTER_US) * QUARTER_US;
    return uneven.some((cut) => cut > fromUs && cut <= last_at);
  };
}
