import type { ConditionalPrice, ModelInfo } from "@pydantic/genai-prices";
import type { Rates } from "./rates.ts";
import { constant, inPeriods, type Schedule } from "./schedule.ts";

const dayUs = 86_400_000_000;

/**
 * A model's schedule as a grid of price dates and hours of the day. The list changes prices at midnights and at times of
 * day, both in UTC, so the rates at one instant apply to its whole cell. `ratesAt` is called once per cell, with milliseconds.
 */
export function priceGrid(prices: ModelInfo["prices"], ratesAt: (atMs: number) => Rates | null): Schedule {
  if (!Array.isArray(prices)) return constant(ratesAt(0));
  const dates = ascending(prices.flatMap(startDateUs));
  const hours = ascending([0, ...prices.flatMap(timesOfDayUs)]);
  const from = (dateUs: number): Schedule => daily(hours, (timeUs) => ratesAt((dateUs + timeUs) / 1000));
  return inPeriods(
    from((dates[0] ?? 0) - dayUs),
    dates.map((fromUs) => ({ fromUs, schedule: from(fromUs) })),
  );
}

function daily(hours: readonly number[], ratesAt: (timeUs: number) => Rates | null): Schedule {
  const rates = hours.map(ratesAt);
  if (rates.length === 1) return constant(rates[0]!);
  return (atUs) => {
    const dayStartUs = Math.floor(atUs / dayUs) * dayUs;
    const now = hours.findLastIndex((timeUs) => timeUs <= atUs - dayStartUs);
    return { rates: rates[now]!, sinceUs: null, untilUs: dayStartUs + (hours[now + 1] ?? dayUs) };
  };
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
