import type { Engine } from "../../store/engine.ts";
import { unpackQuarters, type QuarterEntry } from "../../ledger/packed-quarters.ts";
import { QUARTER_US } from "../../ledger/quarters.ts";
import { settlementKey, type SettledHour } from "../../ledger/settled-hours.ts";
import { sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { COUNT_SLOTS, countFields } from "../../usage/count-fields.ts";
import { bucketFinder } from "../bucket-finder.ts";
import { NO_LATENCIES, type Cell, type CellsQuestion } from "./cell.ts";
import { inReads, rowsOf } from "./reads.ts";

export interface ReadQuarters {
  readonly cells: readonly Cell[];
  /** Settlements whose quarters do not tell what is asked. */
  readonly untold: readonly SettledHour[];
}

/** Their texts are in memory at once. */
const ENTRIES_PER_READ = 200_000;

interface Row extends Pick<SettledHour, "grain" | "hour" | "settlement"> {
  readonly quarters: string;
}

/** What some settlements come to by quarters of an hour. Undefined: one has been replaced since it was found. */
export async function readQuarters(
  engine: Engine,
  question: CellsQuestion,
  { settled, signal }: { readonly settled: readonly SettledHour[]; readonly signal: AbortSignal },
): Promise<ReadQuarters | undefined> {
  const isTold = cutByQuarters(question.cutsUs);
  const cells = new QuarterCells(question);
  const untold = settled.filter((hour) => !isTold(hour));
  for (const some of inReads(settled.filter(isTold), ENTRIES_PER_READ)) {
    const texts = await textsOf(
      engine,
      question.project,
      some.filter(({ quarters }) => quarters === null),
      signal,
    );
    for (const hour of some) {
      const text = hour.quarters ?? texts.get(settlementKey(hour));
      if (text === undefined) return undefined;
      if (text === "" || !cells.add(unpackQuarters(text))) untold.push(hour);
    }
  }
  return { cells: cells.all(), untold };
}

async function textsOf(
  engine: Engine,
  project: Project,
  settled: readonly SettledHour[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (settled.length === 0) return new Map();
  const rows = await engine.rows<Row>(
    sql`SELECT grain, hour, settlement, quarters FROM usage_hours WHERE ${rowsOf(project, settled)}`,
    { name: "ledger_read_quarters", limits: "heavy", signal },
  );
  return new Map(rows.map((row) => [settlementKey(row), row.quarters]));
}

/** Quarters tell nothing of what lies between two of them. */
function cutByQuarters(cutsUs: readonly number[]): (settled: SettledHour) => boolean {
  const uneven = cutsUs.filter((cut) => cut % QUARTER_US !== 0);
  return ({ first_at, last_at }) => !uneven.some((cut) => cut > first_at && cut <= last_at);
}

/** What an answer needs of quarters, added up, so that its memory depends on its buckets and not on the window. */
class QuarterCells {
  private readonly cells = new Map<string, QuarterCell>();
  private readonly question: CellsQuestion;
  private readonly sliceAt: (us: number) => number;

  constructor(question: CellsQuestion) {
    this.question = question;
    this.sliceAt = bucketFinder(question.cutsUs);
  }

  /** False, and nothing is added: an entry has requests on both sides of an input that cuts prices. */
  add(entries: readonly QuarterEntry[]): boolean {
    const { withCosts } = this.question;
    const isBetween = (entry: QuarterEntry): boolean =>
      this.bandOf(entry.input_min) !== this.bandOf(entry.input_max);
    if (withCosts && entries.some(isBetween)) return false;
    for (const entry of entries) this.addEntry(entry);
    return true;
  }

  all(): readonly Cell[] {
    return [...this.cells.values()];
  }

  private addEntry(entry: QuarterEntry): void {
    const slice = this.question.cutsUs[this.sliceAt(entry.at)]!;
    const band = this.bandOf(entry.input_max);
    const { llm, provider, tier, detail, shape, usages } = entry;
    const key = JSON.stringify([slice, band, shape, Math.sign(usages), llm, provider, tier, detail]);
    const cell = this.cells.get(key) ?? emptyCell({ slice, band, llm, provider, tier, detail });
    this.cells.set(key, cell);
    cell.calls += entry.calls;
    cell.errors += entry.errors;
    cell.usages += usages;
    cell.uncached += entry.uncached;
    cell.chargedRequests += entry.charged_requests;
    for (const [slot, { wire }] of countFields.entries()) cell.counts[slot]! += entry[wire];
  }

  /** How many of the inputs that cut prices are smaller. */
  private bandOf(input: number): number {
    return this.question.inputs.filter((cut) => input > cut).length;
  }
}

type QuarterCell = { -readonly [Name in keyof Cell]: Cell[Name] };

function emptyCell(of: Pick<Cell, "slice" | "band" | "llm" | "provider" | "tier" | "detail">): QuarterCell {
  const none = { calls: 0, errors: 0, usages: 0, uncached: 0, chargedRequests: 0 };
  return {
    ...of,
    ...none,
    key: "",
    counts: new Float64Array(COUNT_SLOTS),
    latency: NO_LATENCIES,
    latencies: [],
  };
}
