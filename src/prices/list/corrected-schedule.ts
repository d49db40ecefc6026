import type { ModelPrice } from "@pydantic/genai-prices";
import { exact } from "../picodollars.ts";
import type { Rates, Schedule } from "../rates.ts";
import { ratesOfListedPrice } from "./built-in-rates.ts";
import { corrections, type CorrectedPeriod, type Correction, type PeakHours } from "./corrections.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The prices over time of a corrected model. Before the first correction, `listed` applies. */
export function correctedSchedule(correction: Correction, listed: Schedule | null): Schedule {
  const periods = correction.periods.map((period) => ({
    fromMs: Date.parse(period.from),
    rates: ratesOf(period, 1),
    peak:
      period.peak === undefined
        ? undefined
        : {
            includes: peakTimes(corrections.peak_hours[period.peak.hours]!),
            rates: ratesOf(period, period.peak.factor),
          },
  }));
  return {
    ratesAt(atMs) {
      const period = periods.findLast(({ fromMs }) => fromMs <= atMs);
      if (period === undefined) return listed?.ratesAt(atMs) ?? null;
      return period.peak?.includes(atMs) === true ? period.peak.rates : period.rates;
    },
    sinceAt(atMs) {
      const period = periods.findLast(({ fromMs }) => fromMs <= atMs);
      return period?.fromMs ?? listed?.sinceAt(atMs) ?? null;
    },
    steadyUntil(atMs) {
      const next = periods.find(({ fromMs }) => fromMs > atMs)?.fromMs ?? Infinity;
      const period = periods.findLast(({ fromMs }) => fromMs <= atMs);
      if (period === undefined) return Math.min(next, listed?.steadyUntil(atMs) ?? Infinity);
      return period.peak === undefined ? next : Math.min(next, (Math.floor(atMs / hourMs) + 1) * hourMs);
    },
  };
}

/** Whether an instant (ms since the epoch) lies in peak hours, which begin and end with whole hours of UTC. */
function peakTimes(peak: PeakHours): (atMs: number) => boolean {
  const workdaysSinceMs = Date.parse(peak.workdays_since);
  return (atMs) => {
    const hour = Math.floor((((atMs % dayMs) + dayMs) % dayMs) / hourMs);
    if (!peak.hours_utc.some(([from, until]) => hour >= from && hour < until)) return false;
    if (atMs < workdaysSinceMs) return true;
    const local = new Date(atMs + peak.utc_offset_hours * hourMs);
    const day = local.toISOString().slice(0, 10);
    const isWeekend = local.getUTCDay() === 0 || local.getUTCDay() === 6;
    return !isWeekend && !peak.holidays.some(([first, last]) => day >= first && day <= last);
  };
}

/** The factor applies to tokens alone. */
function ratesOf({ prices, above = [] }: CorrectedPeriod, factor: number): Rates | null {
  if (prices === undefined) return null;
  const listed = (Object.entries(prices) as [keyof typeof prices, number][]).map(([key, usd]) => {
    if (!key.endsWith("_mtok")) return [key, usd] as const;
    const tiers = above.map(({ tokens, factors }) => ({
      start: tokens,
      price: exact(usd * factor * (factors[key] ?? 1)),
    }));
    return [key, { base: exact(usd * factor), tiers }] as const;
  });
  return ratesOfListedPrice(Object.fromEntries(listed) as ModelPrice);
}
