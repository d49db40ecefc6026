import type { Engine } from "../../clickhouse/engine.ts";
import { QUARTER_US } from "../../ledger/quarters.ts";
import { ofGrain, type SettledHour } from "../../ledger/settled-hours.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { StatsPlan } from "../plan.ts";
import { priceCuts, servedOf, type PriceCuts } from "./price-slices.ts";
import type { LedgerQuestion } from "./question.ts";
import { readCells, type Cell, type CellsQuestion } from "./read-cells.ts";

export interface LedgerCells {
  readonly cells: readonly Cell[];
  /** Ascending: what `Cell.band` counts. */
  readonly inputs: readonly number[];
}

export interface LedgerToRead {
  readonly plan: StatsPlan;
  readonly ledger: LedgerQuestion;
  /** Undefined: costs are not asked for. */
  readonly book: PriceBook | undefined;
  readonly settled: readonly SettledHour[];
  readonly signal: AbortSignal;
}

const NO_CUTS: PriceCuts = { instantsMs: [], inputs: [] };

/** What settled hours come to. Undefined: the ledger cannot tell, or has changed meanwhile. */
export async function readLedger(engine: Engine, asked: LedgerToRead): Promise<LedgerCells | undefined> {
  const { plan, ledger, book, settled, signal } = asked;
  const used = settled.filter(({ heads }) => heads > 0);
  if (used.length === 0) return { cells: [], inputs: [] };
  const firstUs = used.reduce((first, hour) => Math.min(first, hour.first_at), Infinity);
  const lastUs = used.reduce((last, hour) => Math.max(last, hour.last_at), -Infinity);
  const span = { fromMs: Math.floor(firstUs / 1000), toMs: Math.ceil(lastUs / 1000) };
  const served = servedOf(settled.flatMap((hour) => hour.served));
  const prices = book === undefined ? NO_CUTS : priceCuts(book, served, span);
  if (prices === undefined) return undefined;
  const cuts = cutsOf(plan, prices).filter((cut) => cut > firstUs && cut <= lastUs);
  const question: CellsQuestion = {
    ...ledger,
    project: plan.selection.project,
    withCosts: book !== undefined,
    byUsage: plan.dimensions.all.some(({ source }) => source !== "call"),
    cutsUs: [firstUs, ...cuts],
    inputs: prices.inputs,
  };
  const coarse = ledger.isCoarse ? quartersThatTell(ofGrain(settled, "quarters"), cuts) : [];
  const quarters = await readCells(engine, question, { settled: coarse, signal });
  if (!quarters.isWhole) return undefined;
  const told = new Set(quarters.isAmbiguous ? [] : coarse.map(({ hour }) => hour));
  const fine = oncePerHour(ofGrain(settled, "calls")).filter(({ hour }) => !told.has(hour));
  if (told.size + fine.length < new Set(settled.map(({ hour }) => hour)).size) return undefined;
  const calls = await readCells(engine, question, { settled: fine, signal });
  if (!calls.isWhole) return undefined;
  const cells = quarters.isAmbiguous ? calls.cells : [...quarters.cells, ...calls.cells];
  return { cells, inputs: prices.inputs };
}

/** Where windows, buckets and prices begin and end, in microseconds since the epoch. */
function cutsOf({ window, buckets }: StatsPlan, { instantsMs }: PriceCuts): readonly number[] {
  const all = [window.startMs, window.endMs, ...buckets.startsMs, ...instantsMs].map((ms) => ms * 1000);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Quarters tell nothing of what lies between two of them. */
function quartersThatTell(quarters: readonly SettledHour[], cuts: readonly number[]): readonly SettledHour[] {
  const uneven = cuts.filter((cut) => cut % QUARTER_US !== 0);
  return oncePerHour(quarters).filter(
    ({ first_at, last_at }) => !uneven.some((cut) => cut > first_at && cut <= last_at),
  );
}

/** Of several settlements of an hour, the latest: they say the same, unless it mends the others. */
function oncePerHour(settled: readonly SettledHour[]): readonly SettledHour[] {
  return [...new Map(settled.map((hour) => [hour.hour, hour])).values()];
}
