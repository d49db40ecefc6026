import type { RollupManifest } from "./manifests.ts";
import { NO_PRICES, priceBreakpoints } from "./price-breakpoints.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { parseServedModels } from "./served-models.ts";
import type { AggregationPlan } from "./sum-records.ts";
import { FIFTEEN_MINUTES_US } from "./usage-record.ts";

/**
 * Plans the sums over the records of `manifests`, by the intervals between bounds of the window, of its buckets, and price
 * changes. Uses 15-minute records unless a bound falls inside one. Returns `undefined` for too many price changes.
 */
export function planAggregation(
  { project, window, startsUs, query, book }: OwnUsageQuery,
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
  const all = [window.startUs, window.endUs, ...startsUs, ...prices.instantsUs];
  const bounds = [...new Set(all)].filter((at) => at > firstUs && at <= lastUs).sort((a, b) => a - b);
  const isSplit = splitsInterval(bounds);
  const summing = {
    project,
    query,
    intervalStartsUs: [firstUs, ...bounds],
    prices,
    withUnits: served.some(({ hasUnits }) => hasUnits),
  };
  return [
    { ...summing, by15Minutes: true, manifests: used.filter((manifest) => !isSplit(manifest)) },
    { ...summing, by15Minutes: false, manifests: used.filter(isSplit) },
  ].filter((plan) => plan.manifests.length > 0);
}

/** True if a bound falls inside a 15-minute interval in which calls of the manifest started. */
export function splitsInterval(
  boundsUs: readonly number[],
): (manifest: Pick<RollupManifest, "first_started_at_us" | "last_started_at_us">) => boolean {
  const unaligned = boundsUs.filter((bound) => bound % FIFTEEN_MINUTES_US !== 0);
  return ({ first_started_at_us, last_started_at_us }) => {
    const fromUs = Math.floor(first_started_at_us / FIFTEEN_MINUTES_US) * FIFTEEN_MINUTES_US;
    return unaligned.some((bound) => bound > fromUs && bound <= last_started_at_us);
  };
}
