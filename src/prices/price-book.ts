import type { BuiltInPrices } from "./built-in-prices.ts";
import type { PricedUsage } from "../usage/usage.ts";
import type { CallCost } from "./cost-fields.ts";
import { costOfCall } from "./cost-of-call.ts";
import { modelNames } from "./model-names.ts";
import type { ProjectSchedules } from "./project-prices.ts";
import type { Schedule } from "./rates.ts";

/** All prices that hold for one project, as they stood when the book was opened. One book serves one answer. */
export interface PriceBook {
  /**
   * What a call that started at an instant (ms since the epoch) used of an LLM costs, at the price in force then:
   * the project's own, else the built-in one. Cost: a map look-up and four products once the LLM has been seen.
   */
  cost(llmId: string, startedAtMs: number, usage: PricedUsage): CallCost;
}

export interface BookOptions {
  readonly builtIn: BuiltInPrices;
  readonly project: ProjectSchedules;
  /** Hears of LLM ids that had no price. Called once per id and book, and again after many others. */
  readonly onUnknown?: (llmId: string) => void;
}

/** How many LLM ids a book keeps; ids come from what calls say, so that there can be any number of them. */
const maxSchedules = 10_000;

export function createPriceBook(options: BookOptions): PriceBook {
  const schedules = new Map<string, Schedule>();
  const unknown = new Set<string>();
  const scheduleOf = (llmId: string): Schedule => {
    const known = schedules.get(llmId);
    if (known !== undefined) return known;
    if (schedules.size >= maxSchedules) schedules.clear();
    const schedule = combinedSchedule(llmId, options);
    schedules.set(llmId, schedule);
    return schedule;
  };
  const reportUnknown = (llmId: string): void => {
    if (options.onUnknown === undefined || unknown.has(llmId)) return;
    if (unknown.size >= maxSchedules) unknown.clear();
    unknown.add(llmId);
    options.onUnknown(llmId);
  };
  return {
    cost(llmId, startedAtMs, usage) {
      const rates = scheduleOf(llmId).ratesAt(startedAtMs);
      if (rates === null) reportUnknown(llmId);
      return costOfCall(usage, rates);
    },
  };
}

function combinedSchedule(llmId: string, { builtIn, project }: BookOptions): Schedule {
  const listed = builtIn.find(llmId)?.schedule;
  const own = project.size === 0 ? [] : ownSchedules(llmId, project);
  if (own.length === 0) return listed ?? neverPriced;
  return {
    ratesAt(atMs) {
      for (const schedule of own) {
        const rates = schedule.ratesAt(atMs);
        if (rates !== null) return rates;
      }
      return listed?.ratesAt(atMs) ?? null;
    },
  };
}

function ownSchedules(llmId: string, project: ProjectSchedules): readonly Schedule[] {
  const ids = new Set(modelNames(llmId).map((name) => name.id));
  return [...ids].map((id) => project.get(id)).filter((schedule) => schedule !== undefined);
}

const neverPriced: Schedule = { ratesAt: () => null };
