import type { ConditionalPrice, ModelInfo } from "@pydantic/genai-prices";
import type { Rates, Schedule } from "./rates.ts";

const dayMs = 86_400_000;

/**
 * A model's schedule as a grid of price dates and hours of the day. The list changes prices at midnights and at times of
 * day, both in UTC, so the rates at one instant apply to its whole cell. `ratesAt` is called once per cell.
 */
export function priceGrid(prices: ModelInfo["prices"], ratesAt: (atMs: number) => Rates | null): Schedule {
  if (!Array.isArray(prices)) return constantSchedule(ratesAt(0));
  const dates = ascending(prices.flatMap(startDateMs));
  const hours = ascending([0, ...prices.flatMap(timesOfDayMs)]);
  const rowStarts = [(dates[0] ?? 0) - dayMs, ...dates];
  const cells = rowStarts.map((dayStartMs) => hours.map((timeMs) => ratesAt(dayStartMs + timeMs)));
  return {
    ratesAt(atMs) {
      const row = countUpTo(dates, atMs);
      const timeMs = ((atMs % dayMs) + dayMs) % dayMs;
      return cells[row]![countUpTo(hours, timeMs) - 1]!;
    },
    sinceAt: (atMs) => dates[countUpTo(dates, atMs) - 1] ?? null,
    steadyUntil(atMs) {
      const nextDate = dates[countUpTo(dates, atMs)] ?? Infinity;
      if (hours.length === 1) return nextDate;
      const dayStartMs = Math.floor(atMs / dayMs) * dayMs;
      const nextTime = hours[countUpTo(hours, atMs - dayStartMs)] ?? dayMs;
      return Math.min(nextDate, dayStartMs + nextTime);
    },
  };
}

function constantSchedule(rates: Rates | null): Schedule {
  return { ratesAt: () => rates, sinceAt: () => null, steadyUntil: () => Infinity };
}

function startDateMs({ constraint }: ConditionalPrice): number[] {
  return constraint?.type === "start_date" ? [Date.parse(constraint.start_date)] : [];
}

function timesOfDayMs({ constraint }: ConditionalPrice): number[] {
  if (constraint?.type !== "time_of_date") return [];
  return [constraint.start_time, constraint.end_time].map((time) => {
    const ms = Date.parse(`1970-01-01T${time}`);
    return ((ms % dayMs) + dayMs) % dayMs;
  });
}

function ascending(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((left, right) => left - right);
}

/** The number of ascending bounds at or before a value. The lists are short. */
function countUpTo(bounds: readonly number[], value: number): number {
  let count = bounds.length;
  while (count > 0 && bounds[count - 1]! > value) count--;
  return count;
}
