import type { ModelPrice } from "@pydantic/genai-prices";
import { HOUR_MICROS, hourOf } from "../../shared/instant.ts";
import { exact } from "../picodollars.ts";
import type { Rates, Schedule } from "../rates.ts";
import { ratesOfListedPrice } from "./built-in-rates.ts";
import { corrections, type CorrectedPeriod, type Correction, type PeakHours } from "./corrections.ts";

const dayUs = 24 * HOUR_MICROS;

/** The prices over time of a corrected model. Before the first correction, `listed` applies. */
export function correctedSchedule(correction: Correction, listed: Schedule | null): Schedule {
  const periods = correction.periods.map((period) => ({
    fromUs: Date.parse(period.from) * 1000,
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
    ratesAt(atUs) {
      const period = periods.findLast(({ fromUs }) => fromUs <= atUs);
      if (period === undefined) return listed?.ratesAt(atUs) ?? null;
      return period.peak?.includes(atUs) === true ? period.peak.rates : period.rates;
    },
    sinceAt(atUs) {
      const period = periods.findLast(({ fromUs }) => fromUs <= atUs);
      return period?.fromUs ?? listed?.sinceAt(atUs) ?? null;
    },
    steadyUntil(atUs) {
      const next = periods.find(({ fromUs }) => fromUs > atUs)?.fromUs ?? Infinity;
      const period = periods.findLast(({ fromUs }) => fromUs <= atUs);
      if (period === undefined) return Math.min(next, listed?.steadyUntil(atUs) ?? Infinity);
      return period.peak === undefined ? next : Math.min(next, (hourOf(atUs) + 1) * HOUR_MICROS);
    },
  };
}

/** Whether an instant (µs since the epoch) lies in peak hours, which begin and end with whole hours of UTC. */
function peakTimes(peak: PeakHours): (atUs: number) => boolean {
  const workdaysSinceUs = Date.parse(peak.workdays_since) * 1000;
  return (atUs) => {
    const hour = Math.floor((((atUs % dayUs) + dayUs) % dayUs) / HOUR_MICROS);
    if (!peak.hours_utc.some(([from, until]) => hour >= from && hour < until)) return false;
    if (atUs < workdaysSinceUs) return true;
    const local = new Date((atUs + peak.utc_offset_hours * HOUR_MICROS) / 1000);
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
