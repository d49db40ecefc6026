import type { ConditionalPrice, ModelInfo } from "@pydantic/genai-prices";
import type { Rates, Schedule } from "./rates.ts";

const dayMs = 86_400_000;

/**
 * A model's schedule as a grid: price dates down, hours of the day across. The list changes prices at midnights
 * and at times of day, both UTC, so that one instant tells what holds in its whole cell. `ratesAt` is asked once per cell.
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
  };
}

function constantSchedule(rates: Rates | null): Schedule {
  return { ratesAt: () => rates, sinceAt: () => null };
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

/** How many of the ascending bounds lie at or before a value. The lists hold a handful. */
function countUpTo(bounds: readonly number[], value: number): number {
  let count = bounds.length;
  while (count > 0 && bounds[count - 1]! > value) count--;
  return count;
}
