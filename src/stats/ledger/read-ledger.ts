import type { Engine } from "../../store/engine.ts";
import { oneOf } from "../../ledger/hour.ts";
import { ofGrain, readSettled, type SettledHour } from "../../ledger/settled-hours.ts";
import type { Grain } from "../../ledger/settled-rows.ts";
import { groupKey } from "../../ledger/spanning-groups.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { Project } from "../../shared/project.ts";
import type { StatsPlan } from "../plan.ts";
import { NO_PRICES, priceCuts, servedOf, type PriceCuts, type Served } from "./price-slices.ts";
import type { LedgerQuestion } from "./question.ts";
import type { Apart, Cell, CellsQuestion } from "./cell.ts";
import { readCells } from "./read-cells.ts";
import { readQuarters } from "./read-quarters.ts";

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

/** What settled hours come to. Undefined: the ledger cannot tell, or has changed meanwhile. */
export async function readLedger(engine: Engine, asked: LedgerToRead): Promise<LedgerCells | undefined> {
  const { plan, ledger, book, settled, signal } = asked;
  const used = settled.filter(({ entries }) => entries > 0);
  if (used.length === 0) return { cells: [], inputs: [] };
  const firstUs = used.reduce((first, hour) => Math.min(first, hour.first_at), Infinity);
  const lastUs = used.reduce((last, hour) => Math.max(last, hour.last_at), -Infinity);
  const served = servedOf(settled.flatMap((hour) => hour.served));
  const prices = book === undefined ? NO_PRICES : priceCuts(book, served, { fromUs: firstUs, toUs: lastUs });
  if (prices === undefined) return undefined;
  const cuts = cutsOf(plan, prices).filter((cut) => cut > firstUs && cut <= lastUs);
  const question: CellsQuestion = {
    ...ledger,
    project: plan.selection.project,
    withCosts: book !== undefined,
    apart: apartFor(plan, book === undefined ? undefined : prices, served),
    cutsUs: [firstUs, ...cuts],
    inputs: prices.inputs.filter((input) => served.some(({ maxInput }) => maxInput > input)),
  };
  const { quarters, calls, spanning } = byGrain(settled);
  const told = ledger.isCoarse ? [...quarters, ...spanning] : [];
  const read = await readQuarters(engine, question, { settled: told, signal });
  if (read === undefined) return undefined;
  const finer = await callsOf(engine, plan.selection.project, ofGrain(read.untold, "quarters"), signal);
  if (finer === undefined) return undefined;
  const others = ledger.isCoarse ? ofGrain(read.untold, "spanning") : spanning;
  const cells = await readCells(engine, question, { settled: [...calls, ...finer, ...others], signal });
  if (cells === undefined) return undefined;
  return { cells: [...read.cells, ...cells], inputs: prices.inputs };
}

/** What all of the usages have in common need not be taken apart. `prices`: undefined without costs. */
function apartFor(plan: StatsPlan, prices: PriceCuts | undefined, served: readonly Served[]): Apart {
  const isNamed = prices !== undefined || plan.dimensions.all.some(({ source }) => source !== "call");
  return {
    llm: isNamed,
    provider: isNamed && served.some(({ service }) => service !== undefined && service.provider !== ""),
    tier: prices !== undefined && served.some(({ service }) => service !== undefined && service.tier !== ""),
    detail: prices !== undefined && served.some(({ hasDetails }) => hasDetails),
    shape: prices?.hasGaps === true,
    fees: prices?.hasFees === true,
  };
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
function cutsOf({ window, buckets }: StatsPlan, { instantsUs }: PriceCuts): readonly number[] {
  const all = [window.startUs, window.endUs, ...buckets.startsUs, ...instantsUs];
  return [...new Set(all)].sort((a, b) => a - b);
}
