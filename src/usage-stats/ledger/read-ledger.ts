import type { Engine } from "../../clickhouse/engine.ts";
import { QUARTER_US } from "../../ledger/quarters.ts";
import { oneOf } from "../../ledger/hour.ts";
import { ofGrain, readSettled, type SettledHour } from "../../ledger/settled-hours.ts";
import type { Grain } from "../../ledger/settled-rows.ts";
import { groupKey } from "../../ledger/spanning-groups.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { Project } from "../../shared/project.ts";
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
  const used = settled.filter(({ entries }) => entries > 0);
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
  const { quarters, calls, spanning } = byGrain(settled);
  const told = quartersThatTell(quarters, cuts);
  const others = quarters.filter((hour) => !told.includes(hour));
  const finer = await callsOf(engine, plan.selection.project, others, signal);
  if (finer === undefined) return undefined;
  const read = await readCells(engine, question, {
    settled: [...told, ...calls, ...finer, ...spanning],
    signal,
  });
  if (!read.isWhole) return undefined;
  if (!read.isAmbiguous) return { cells: read.cells, inputs: prices.inputs };
  const all = await callsOf(engine, plan.selection.project, quarters, signal);
  if (all === undefined) return undefined;
  const again = await readCells(engine, question, { settled: [...all, ...calls, ...spanning], signal });
  return again.isWhole ? { cells: again.cells, inputs: prices.inputs } : undefined;
}

/** What a question reads first of each hour. */
export function grainsFor({ isCoarse }: LedgerQuestion): readonly Grain[] {
  return isCoarse ? ["quarters", "spanning"] : ["calls", "spanning"];
}

/** Of several settlements of an hour or of a group, the latest: they say the same, unless it mends the others. */
function byGrain(settled: readonly SettledHour[]): Readonly<Record<Grain, readonly SettledHour[]>> {
  const latest = new Map(settled.map((hour) => [`${hour.grain} ${hour.hour} ${groupKey(hour.hours)}`, hour]));
  const of = (grain: Grain): readonly SettledHour[] => ofGrain([...latest.values()], grain);
  return { quarters: of("quarters"), calls: of("calls"), spanning: of("spanning") };
}

/** The same hours call by call. Undefined: the ledger does not have all of them so. */
async function callsOf(
  engine: Engine,
  project: Project,
  hours: readonly SettledHour[],
  signal: AbortSignal,
): Promise<readonly SettledHour[] | undefined> {
  if (hours.length === 0) return [];
  const asked = { window: oneOf(hours.map(({ hour }) => hour)), grains: ["calls"] } as const;
  const found = new Map<string, SettledHour>();
  for (const one of await readSettled(engine, project, asked, signal)) found.set(stateOf(one), one);
  const same = hours.map((hour) => found.get(stateOf(hour)));
  return same.every((one) => one !== undefined) ? same : undefined;
}

function stateOf({ hour, fingerprints, spanning }: SettledHour): string {
  return `${hour} ${fingerprints.join()} ${spanning}`;
}

/** Where windows, buckets and prices begin and end, in microseconds since the epoch. */
function cutsOf({ window, buckets }: StatsPlan, { instantsMs }: PriceCuts): readonly number[] {
  const all = [window.startMs, window.endMs, ...buckets.startsMs, ...instantsMs].map((ms) => ms * 1000);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Quarters tell nothing of what lies between two of them. */
function quartersThatTell(quarters: readonly SettledHour[], cuts: readonly number[]): readonly SettledHour[] {
  const uneven = cuts.filter((cut) => cut % QUARTER_US !== 0);
  return quarters.filter(({ first_at, last_at }) => !uneven.some((cut) => cut > first_at && cut <= last_at));
}
