import type { Engine } from "../../clickhouse/engine.ts";
import { unpackQuarters, type QuarterEntry } from "../../ledger/packed-quarters.ts";
import { QUARTER_US } from "../../ledger/quarters.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import { sql } from "../../query/sql.ts";
import { countFields } from "../../usage/count-fields.ts";
import { bucketFinder } from "../bucket-finder.ts";
import { NO_LATENCIES, type Cell, type CellsQuestion } from "./cell.ts";
import { inReads, rowsOf } from "./reads.ts";

export interface ReadQuarters {
  readonly cells: readonly Cell[];
  /** Settlements whose quarters do not tell what is asked. */
  readonly untold: readonly SettledHour[];
}

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
  const cellsOf = cellMaker(question);
  const cells: Cell[] = [];
  const untold = settled.filter((hour) => !isTold(hour));
  for (const some of inReads(settled.filter(isTold))) {
    const rows = await engine.rows<Row>(
      sql`SELECT grain, hour, settlement, quarters FROM usage_hours WHERE ${rowsOf(question.project, some)}`,
      { name: "ledger_read_quarters", limits: "heavy", signal },
    );
    const texts = new Map(rows.map((row) => [keyOf(row), row.quarters]));
    for (const hour of some) {
      const text = texts.get(keyOf(hour));
      if (text === undefined) return undefined;
      const found = text === "" ? undefined : cellsOf(unpackQuarters(text));
      if (found === undefined) untold.push(hour);
      else for (const cell of found) cells.push(cell);
    }
  }
  return { cells, untold };
}

function keyOf({ grain, hour, settlement }: Pick<SettledHour, "grain" | "hour" | "settlement">): string {
  return `${grain} ${hour} ${settlement}`;
}

/** Quarters tell nothing of what lies between two of them. */
function cutByQuarters(cutsUs: readonly number[]): (settled: SettledHour) => boolean {
  const uneven = cutsUs.filter((cut) => cut % QUARTER_US !== 0);
  return ({ first_at, last_at }) => !uneven.some((cut) => cut > first_at && cut <= last_at);
}

/** Undefined: an entry has requests on both sides of an input that cuts prices. */
function cellMaker({
  cutsUs,
  inputs,
  withCosts,
}: CellsQuestion): (entries: readonly QuarterEntry[]) => readonly Cell[] | undefined {
  const sliceAt = bucketFinder(cutsUs);
  const bandOf = (input: number): number => inputs.filter((cut) => input > cut).length;
  return (entries) => {
    if (withCosts && entries.some((entry) => bandOf(entry.input_min) !== bandOf(entry.input_max)))
      return undefined;
    return entries.map((entry) => ({
      ...entry,
      slice: cutsUs[sliceAt(entry.at)]!,
      key: "",
      band: bandOf(entry.input_max),
      counts: Float64Array.from(countFields, ({ wire }) => entry[wire]),
      chargedRequests: entry.charged_requests,
      latency: NO_LATENCIES,
      latencies: [],
    }));
  };
}
