import type { ModelPrice } from "@pydantic/genai-prices";
import { ratesOfListedPrice } from "./built-in-rates.ts";
import { exact } from "../picodollars.ts";
import type { Rates, Schedule } from "../rates.ts";
import { pricedUnits } from "../units.ts";

/** A known error of the built-in list, with the provider's published prices. */
export interface Correction {
  /** A provider id of the list. */
  readonly provider: string;
  readonly models: readonly string[];
  /** Where the provider publishes the prices, and the day they were last checked. */
  readonly source: string;
  readonly checked: string;
  readonly why: string;
  /** Ascending. Before the first one, the list applies. */
  readonly periods: readonly CorrectedPeriod[];
}

/** The prices of a model from an instant on, in USD per million tokens. */
interface CorrectedPeriod {
  readonly from: string;
  /** Absent: unknown. */
  readonly prices?: CorrectedPrices;
  /** Factors on all tokens of a request with a larger input. */
  readonly above?: readonly { readonly aboveTokens: number; readonly factors: Partial<CorrectedPrices> }[];
  readonly peak?: { readonly times: PeakTimes; readonly factor: number };
  /** Units that are not tokens, in USD per thousand. */
  readonly perThousand?: Readonly<Partial<Record<OtherUnit, number>>>;
}

type OtherUnit = "web_searches" | "social_searches" | "storage_searches" | "code_executions";

interface CorrectedPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** Whether an instant (ms since the epoch) lies in peak hours, which begin and end with whole hours of UTC. */
export type PeakTimes = (atMs: number) => boolean;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Peak hours of every day; from `workdaysSince` on, of working days only. Days begin at midnight of `utcOffsetHours`. */
export function dailyPeak(options: {
  readonly hoursUtc: readonly (readonly [from: number, until: number])[];
  readonly workdaysSince: string;
  readonly utcOffsetHours: number;
  /** The first and last day of each. */
  readonly holidays: readonly (readonly [first: string, last: string])[];
}): PeakTimes {
  const workdaysSinceMs = Date.parse(options.workdaysSince);
  return (atMs) => {
    const hour = Math.floor((((atMs % dayMs) + dayMs) % dayMs) / hourMs);
    if (!options.hoursUtc.some(([from, until]) => hour >= from && hour < until)) return false;
    if (atMs < workdaysSinceMs) return true;
    const local = new Date(atMs + options.utcOffsetHours * hourMs);
    const day = local.toISOString().slice(0, 10);
    const isWeekend = local.getUTCDay() === 0 || local.getUTCDay() === 6;
    return !isWeekend && !options.holidays.some(([first, last]) => day >= first && day <= last);
  };
}

/** The prices over time of a corrected model. Before the first correction, `listed` applies. */
export function correctedSchedule(correction: Correction, listed: Schedule | null): Schedule {
  const periods = correction.periods.map((period) => ({
    fromMs: Date.parse(period.from),
    rates: ratesOf(period, 1),
    peak:
      period.peak === undefined
        ? undefined
        : { times: period.peak.times, rates: ratesOf(period, period.peak.factor) },
  }));
  return {
    ratesAt(atMs) {
      const period = periods.findLast(({ fromMs }) => fromMs <= atMs);
      if (period === undefined) return listed?.ratesAt(atMs) ?? null;
      return period.peak?.times(atMs) === true ? period.peak.rates : period.rates;
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

const priceKeys = {
  input: "input_mtok",
  output: "output_mtok",
  cacheRead: "cache_read_mtok",
  cacheWrite: "cache_write_mtok",
  cacheWrite1h: "cache_write_1h_mtok",
} as const;

function ratesOf(period: CorrectedPeriod, factor: number): Rates | null {
  if (period.prices === undefined) return null;
  const price: ModelPrice = {};
  for (const [kind, key] of Object.entries(priceKeys) as [keyof typeof priceKeys, string][]) {
    const base = period.prices[kind];
    if (base === undefined) continue;
    price[key] = {
      base: exact(base * factor),
      tiers: (period.above ?? []).map(({ aboveTokens, factors }) => ({
        start: aboveTokens,
        price: exact(base * factor * (factors[kind] ?? 1)),
      })),
    };
  }
  for (const [unit, usd] of Object.entries(period.perThousand ?? {}) as [OtherUnit, number][])
    price[pricedUnits[unit].priceKey] = usd;
  return ratesOfListedPrice(price);
}
