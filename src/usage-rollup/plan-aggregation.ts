import type { RollupManifest } from "./manifests.ts";
import { NO_PRICES, priceBreakpoints } from "./price-breakpoints.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { parseServedModels } from "./served-models.ts";
import { FIFTEEN_MINUTES_US, type AggregationPlan } from "./sum-records.ts";

export interface SummingRequested extends Omit<OwnUsageQuery, "selection"> {
  readonly selection: Pick<OwnUsageQuery["selection"], "project">;
}

/**
 * How records of some heads are added up: between the instants where the window and its buckets begin and end, and prices change.
 * By quarters of an hour, unless one of these instants lies between two of them. Undefined: there are too many.
 */
export function planAggregation(
  { selection, window, buckets, query, book }: SummingRequested,
  manifests: readonly RollupManifest[],
): readonly AggregationPlan[] | undefined {
  const used = manifests.filter(({ records }) => records > 0);
  if (used.length === 0) return [];
  const firstUs = used.reduce((first, manifest) => Math.min(first, manifest.first_started_at_us), Infinity);
  const lastUs = used.reduce((last, manifest) => Math.max(last, manifest.last_started_at_us), -Infinity);
  const served = parseServedModels(used.flatMap((manifest) => manifest.llms));
  const prices =
    book === undefined ? NO_PRICES : priceBreakpoints(book, served, { fromUs: firstUs, toUs: lastUs });
  if (prices === undefined) return undefined;
  const all = [window.startUs, window.endUs, ...buckets.startsUs, ...prices.instantsUs];
  const cuts = [...new Set(all)].filter((cut) => cut > firstUs && cut <= lastUs).sort((a, b) => a - b);
  const isUneven = splitsInterval(cuts);
  const summing = {
    project: selection.project,
    query,
    cutsUs: [firstUs, ...cuts],
    prices,
    withUnits: served.some(({ hasUnits }) => hasUnits),
  };
  return [
    { ...summing, by15Minutes: true, manifests: used.filter((manifest) => !isUneven(manifest)) },
    { ...summing, by15Minutes: false, manifests: used.filter(isUneven) },
  ].filter((one) => one.manifests.length > 0);
}

/** Whether a quarter of an hour in which some of a head's calls started is cut. */
export function splitsInterval(
  cutsUs: readonly number[],
): (manifest: Pick<RollupManifest, "first_started_at_us" | "last_started_at_us">) => boolean {
  const uneven = cutsUs.filter((cut) => cut % FIFTEEN_MINUTES_US !== 0);
  return ({ first_started_at_us, last_started_at_us }) => {
    const fromUs = Math.floor(first_started_at_us / FIFTEEN_MINUTES_US) * FIFTEEN_MINUTES_US;
    return uneven.some((cut) => cut > fromUs && cut <= last_started_at_us);
  };
}
