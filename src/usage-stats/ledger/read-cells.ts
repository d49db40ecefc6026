import type { Engine } from "../../clickhouse/engine.ts";
import { RowBinaryReader } from "../../clickhouse/rows/row-binary.ts";
import { NO_LATENCY } from "../../ledger/entries.ts";
import { oneOf } from "../../ledger/hour.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { COUNT_SLOTS, countFields } from "../../usage/count-fields.ts";
import type { LatencySums } from "../sums.ts";
import type { LedgerQuestion } from "./question.ts";

/** Entries of one group, between two cuts, at one price, added up. */
export interface Cell {
  /** The cut it begins with, in microseconds since the epoch; `OUTSIDE`: not asked for. */
  readonly slice: number;
  readonly key: string;
  readonly llm: string;
  readonly provider: string;
  readonly tier: string;
  readonly detail: string;
  /** How many of the inputs that cut prices are smaller than the request's. */
  readonly band: number;
  readonly calls: number;
  readonly errors: number;
  readonly usages: number;
  readonly counts: Float64Array;
  readonly uncached: number;
  readonly chargedRequests: number;
  readonly latency: LatencySums;
  /** Each of them, if percentiles are asked for. */
  readonly latencies: readonly number[];
}

export interface CellsQuestion extends LedgerQuestion {
  readonly project: Project;
  readonly withCosts: boolean;
  readonly byUsage: boolean;
  /** Microseconds since the epoch, ascending; the first is not after any call. */
  readonly cutsUs: readonly number[];
  readonly inputs: readonly number[];
}

/** Entries that are added up in one statement. */
const ENTRIES_PER_READ = 2_000_000;
/** No cut: cuts have whole milliseconds, or are instants of calls. */
export const OUTSIDE = Number.MIN_SAFE_INTEGER;

export interface ReadCells {
  readonly cells: readonly Cell[];
  /** Every entry was there: no settlement has been replaced since it was found. */
  readonly isWhole: boolean;
  /** An entry has requests on both sides of an input that cuts prices. */
  readonly isAmbiguous: boolean;
}

/** Adds up the entries of some hours. */
export async function readCells(
  engine: Engine,
  question: CellsQuestion,
  { settled, signal }: { readonly settled: readonly SettledHour[]; readonly signal: AbortSignal },
): Promise<ReadCells> {
  const cells: Cell[] = [];
  let isAmbiguous = false;
  for (const hours of inReads(settled)) {
    const bytes = await engine.bytes(statementOf(question, hours), "RowBinary", {
      name: "ledger_read_cells",
      limits: "heavy",
      signal,
    });
    const reader = new RowBinaryReader(bytes);
    let found = 0;
    while (!reader.done) {
      found += reader.int64();
      isAmbiguous ||= reader.int64() > 0;
      const cell = readCell(reader, question);
      if (cell.slice !== OUTSIDE) cells.push(cell);
    }
    if (found !== hours.reduce((sum, hour) => sum + hour.entries, 0))
      return { cells: [], isWhole: false, isAmbiguous };
  }
  return { cells, isWhole: true, isAmbiguous };
}

function statementOf(question: CellsQuestion, hours: readonly SettledHour[]): Sql {
  const { project, latency, withCosts, inputs, callKey } = question;
  const keyColumns = trusted(question.keyColumns.map((name) => `${name}, `).join(""));
  const counts = countFields.map(({ wire }) => sql`toInt64(sum(${trusted(wire)}))`);
  const some = sql`latency != ${trusted(String(NO_LATENCY))}`;
  const latencies =
    latency === undefined
      ? []
      : ["countIf(", "sumIf(latency, ", "minIf(latency, ", "maxIf(latency, "].map(
          (name) => sql`toInt64(${trusted(name)}${some}))`,
        );
  const values = latency?.percentiles.length ? [sql`groupArrayIf(latency, ${some})`] : [];
  const charged = ["uncached", "charged_requests"].map((name) =>
    trusted(withCosts ? `toInt64(sum(${name}))` : "toInt64(0)"),
  );
  const isCut = withCosts && inputs.length > 0 && question.isCoarse;
  const ambiguous = isCut ? sql`toInt64(countIf((${bandOf("input_min", inputs)}) != band))` : sql`toInt64(0)`;
  const columns = columnsOf(question);
  const numbers = [...counts, ...charged, ...latencies, ...values];
  return sql`SELECT toInt64(count()), ${ambiguous}, slice, ${callKey ?? sql`''`}, of_llm, of_provider, of_tier, of_detail, band,
      toInt64(sum(calls)), toInt64(sum(errors)), toInt64(sum(usages)), ${join(numbers, ", ")}
    FROM (
      SELECT ${join(keysOf(question), ", ")}, * FROM (
        SELECT ${columns}${question.columns.includes("is_root") ? sql`, if(is_root = 1, '', '-') AS parent_id` : sql``}
        FROM usage_hours ARRAY JOIN ${columns}
        WHERE project_id = ${param("String", project)} AND (${join([...Map.groupBy(hours, ({ grain }) => grain).values()].map(ofOneGrain), " OR ")})))
    GROUP BY slice, ${keyColumns}of_llm, of_provider, of_tier, of_detail, band, of_shape, is_used`;
}

function ofOneGrain(hours: readonly SettledHour[]): Sql {
  const settlements = [...new Set(hours.map(({ settlement }) => settlement))];
  return sql`(grain = ${param("UInt32", hours[0]!.grain)} AND ${oneOf([...new Set(hours.map(({ hour }) => hour))])}
    AND settlement IN ${param("Array(String)", settlements)})`;
}

/** What tells cells apart, by the names that `statementOf` has for them. */
function keysOf({ condition, withCosts, byUsage, inputs, cutsUs }: CellsQuestion): readonly Sql[] {
  const cut = sql`roundDown(at, ${param("Array(Int64)", cutsUs)})`;
  const outside = trusted(`toInt64(${OUTSIDE})`);
  const slice = condition === undefined ? cut : sql`if(ifNull(${condition}, 0), ${cut}, ${outside})`;
  const only = (isAsked: boolean, column: string, other: string): Sql => trusted(isAsked ? column : other);
  const isNamed = byUsage || withCosts;
  return [
    sql`toInt64(${slice}) AS slice`,
    sql`${only(isNamed, "llm", "''")} AS of_llm`,
    sql`${only(isNamed, "provider", "''")} AS of_provider`,
    sql`${only(withCosts, "tier", "''")} AS of_tier`,
    sql`${only(withCosts, "detail", "''")} AS of_detail`,
    sql`toInt64(${withCosts ? bandOf("input_max", inputs) : sql`0`}) AS band`,
    sql`${only(withCosts, "shape", "0")} AS of_shape`,
    sql`usages > 0 AS is_used`,
  ];
}

/** How many of the inputs that cut prices are smaller than that of a request. */
function bandOf(input: "input_min" | "input_max", inputs: readonly number[]): Sql {
  if (inputs.length === 0) return sql`0`;
  return join(
    inputs.map((cut) => sql`(${trusted(input)} > ${param("Float64", cut)})`),
    " + ",
  );
}

/** Only what is asked for is taken apart. */
function columnsOf(question: CellsQuestion): Sql {
  const { columns, latency, withCosts, byUsage, inputs, isCoarse } = question;
  const always = ["at", "calls", "errors", "usages", ...countFields.map(({ wire }) => wire)];
  const named = byUsage || withCosts ? ["llm", "provider"] : [];
  const priced = withCosts
    ? ["tier", "detail", "shape", "uncached", "charged_requests", ...(inputs.length > 0 ? ["input_max"] : [])]
    : [];
  // an entry of a call has one input
  const ranged = withCosts && inputs.length > 0 && isCoarse ? ["input_min"] : [];
  const timed = latency === undefined ? [] : ["latency"];
  return join(
    [...always, ...named, ...priced, ...ranged, ...timed, ...columns].map((name) => trusted(name)),
    ", ",
  );
}

function readCell(reader: RowBinaryReader, { latency }: LedgerQuestion): Cell {
  const slice = reader.int64();
  const [key, llm, provider, tier, detail] = [
    reader.string(),
    reader.string(),
    reader.string(),
    reader.string(),
    reader.string(),
  ];
  const [band, calls, errors, usages] = [reader.int64(), reader.int64(), reader.int64(), reader.int64()];
  const counts = Float64Array.from({ length: COUNT_SLOTS }, () => reader.int64());
  const [uncached, chargedRequests] = [reader.int64(), reader.int64()];
  const latencies =
    latency === undefined
      ? NO_LATENCIES
      : { count: reader.int64(), sum: reader.int64(), min: reader.int64(), max: reader.int64() };
  const values = latency?.percentiles.length ? reader.int64s() : [];
  const used = { slice, key, llm, provider, tier, detail, band, calls, errors, usages, counts };
  return { ...used, uncached, chargedRequests, latency: latencies, latencies: values };
}

const NO_LATENCIES: LatencySums = { count: 0, sum: 0, min: 0, max: 0 };

function inReads(settled: readonly SettledHour[]): readonly (readonly SettledHour[])[] {
  const reads: SettledHour[][] = [];
  let room = 0;
  for (const hour of settled) {
    if (room < hour.entries || reads.length === 0) {
      reads.push([]);
      room = ENTRIES_PER_READ;
    }
    reads.at(-1)!.push(hour);
    room -= hour.entries;
  }
  return reads;
}
