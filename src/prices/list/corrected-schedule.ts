import type { ModelPrice } from "@pydantic/genai-prices";
import { HOUR_MICROS, hourOf } from "../../shared/instant.ts";
import { exact } from "../picodollars.ts";
import type { Rates } from "../rates.ts";
import { constant, inPeriods, type Schedule } from "../schedule.ts";
import { ratesOfListedPrice } from "./built-in-rates.ts";
import { corrections, type CorrectedPeriod, type Correction, type PeakHours } from "./corrections.ts";

const dayUs = 24 * HOUR_MICROS;

/** The prices over time of a corrected model. Before the first correction, `listed` applies. */
export function correctedSchedule({ periods }: Correction, listed: Schedule | undefined): Schedule {
  return inPeriods(
    listed ?? constant(null),
    periods.map((period) => ({ fromUs: Date.parse(period.from) * 1000, schedule: scheduleOf(period) })),
  );
}

function scheduleOf(period: CorrectedPeriod): Schedule {
  const usual = ratesOf(period, 1);
  if (period.peak === undefined) return constant(usual);
  const isPeak = peakTimes(corrections.peak_hours[period.peak.hours]!);
  const peak = ratesOf(period, period.peak.factor);
  return (atUs) => ({
    rates: isPeak(atUs) ? peak : usual,
    sinceUs: null,
    untilUs: (hourOf(atUs) + 1) * HOUR_MICROS,
  });
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
