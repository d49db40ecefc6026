import type { ConditionalPrice, ModelInfo } from "@pydantic/genai-prices";
import type { Rates, Schedule } from "./rates.ts";

const dayUs = 86_400_000_000;

/**
 * A model's schedule as a grid of price dates and hours of the day. The list changes prices at midnights and at times of
 * day, both in UTC, so the rates at one instant apply to its whole cell. `ratesAt` is called once per cell, with milliseconds.
 */
export function priceGrid(prices: ModelInfo["prices"], ratesAt: (atMs: number) => Rates | null): Schedule {
  if (!Array.isArray(prices)) return constantSchedule(ratesAt(0));
  const dates = ascending(prices.flatMap(startDateUs));
  const hours = ascending([0, ...prices.flatMap(timesOfDayUs)]);
  const rowStarts = [(dates[0] ?? 0) - dayUs, ...dates];
  const cells = rowStarts.map((dayStartUs) => hours.map((timeUs) => ratesAt((dayStartUs + timeUs) / 1000)));
  return {
    ratesAt(atUs) {
      const row = countUpTo(dates, atUs);
      const timeUs = ((atUs % dayUs) + dayUs) % dayUs;
      return cells[row]![countUpTo(hours, timeUs) - 1]!;
    },
    sinceAt: (atUs) => dates[countUpTo(dates, atUs) - 1] ?? null,
    steadyUntil(atUs) {
      const nextDate = dates[countUpTo(dates, atUs)] ?? Infinity;
      if (hours.length === 1) return nextDate;
      const dayStartUs = Math.floor(atUs / dayUs) * dayUs;
      const nextTime = hours[countUpTo(hours, atUs - dayStartUs)] ?? dayUs;
      return Math.min(nextDate, dayStartUs + nextTime);
    },
  };
}

function constantSchedule(rates: Rates | null): Schedule {
  return { ratesAt: () => rates, sinceAt: () => null, steadyUntil: () => Infinity };
}

function startDateUs({ constraint }: ConditionalPrice): number[] {
  return constraint?.type === "start_date" ? [Date.parse(constraint.start_date) * 1000] : [];
}

function timesOfDayUs({ constraint }: ConditionalPrice): number[] {
  if (constraint?.type !== "time_of_date") return [];
  return [constraint.start_time, constraint.end_time].map((time) => {
    const us = Date.parse(`1970-01-01T${time}`) * 1000;
    return ((us % dayUs) + dayUs) % dayUs;
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
