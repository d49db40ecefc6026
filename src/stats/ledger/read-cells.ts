import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { NO_LATENCY } from "../../ledger/entries.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { COUNT_SLOTS, countFields } from "../../usage/count-fields.ts";
import { NO_LATENCIES, type Cell, type CellsQuestion } from "./cell.ts";
import type { LedgerQuestion } from "./question.ts";
import { inReads, rowsOf } from "./reads.ts";

/** Entries that are added up in one statement, which uses little more than one core. */
const ENTRIES_PER_READ = 2_000_000;
const READS_AT_ONCE = 2;
/** Not asked for. No cut: cuts have whole milliseconds, or are instants of calls. */
const OUTSIDE = Number.MIN_SAFE_INTEGER;

/** Adds up the entries of some settlements. Undefined: one has been replaced since it was found. */
export async function readCells(
  engine: Engine,
  question: CellsQuestion,
  { settled, signal }: { readonly settled: readonly SettledHour[]; readonly signal: AbortSignal },
): Promise<readonly Cell[] | undefined> {
  const reads = inReads(settled, ENTRIES_PER_READ);
  const cells: Cell[] = [];
  for (let at = 0; at < reads.length; at += READS_AT_ONCE) {
    const some = reads.slice(at, at + READS_AT_ONCE);
    for (const found of await Promise.all(some.map((hours) => readSome(engine, question, hours, signal)))) {
      if (found === undefined) return undefined;
      for (const cell of found) cells.push(cell);
    }
  }
  return cells;
}

async function readSome(
  engine: Engine,
  question: CellsQuestion,
  settled: readonly SettledHour[],
  signal: AbortSignal,
): Promise<readonly Cell[] | undefined> {
  const bytes = await engine.bytes(statementOf(question, settled), "RowBinary", {
    name: "ledger_read_cells",
    limits: "heavy",
    signal,
  });
  const cells: Cell[] = [];
  const reader = new RowBinaryReader(bytes);
  let found = 0;
  while (!reader.done) {
    found += reader.int64();
    const cell = readCell(reader, question);
    if (cell.slice !== OUTSIDE) cells.push(cell);
  }
  return found === settled.reduce((sum, { entries }) => sum + entries, 0) ? cells : undefined;
}

function statementOf(question: CellsQuestion, settled: readonly SettledHour[]): Sql {
  const { project, latency, withCosts, apart, callKey } = question;
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
  const summed = (isAsked: boolean, name: string): Sql =>
    trusted(isAsked ? `toInt64(sum(${name}))` : "toInt64(0)");
  const charged = [summed(withCosts, "uncached"), summed(apart.fees, "charged_requests")];
  const columns = columnsOf(question);
  const numbers = [...counts, ...charged, ...latencies, ...values];
  return sql`SELECT toInt64(count()), slice, ${callKey ?? sql`''`}, of_llm, of_provider, of_tier, of_detail, band,
      toInt64(sum(calls)), toInt64(sum(errors)), toInt64(sum(usages)), ${join(numbers, ", ")}
    FROM (
      SELECT ${join(keysOf(question), ", ")}, * FROM (
        SELECT ${columns}${question.columns.includes("is_root") ? sql`, if(is_root = 1, '', '-') AS parent_id` : sql``}
        FROM usage_hours ARRAY JOIN ${columns}
        WHERE ${rowsOf(project, settled)}))
    GROUP BY slice, ${keyColumns}of_llm, of_provider, of_tier, of_detail, band, of_shape, is_used`;
}

/** What tells cells apart, by the names that `statementOf` has for them. */
function keysOf({ condition, withCosts, apart, inputs, cutsUs }: CellsQuestion): readonly Sql[] {
  const cut = sql`roundDown(at, ${param("Array(Int64)", cutsUs)})`;
  const outside = trusted(`toInt64(${OUTSIDE})`);
  const slice = condition === undefined ? cut : sql`if(ifNull(${condition}, 0), ${cut}, ${outside})`;
  const only = (isAsked: boolean, column: string, other: string): Sql => trusted(isAsked ? column : other);
  return [
    sql`toInt64(${slice}) AS slice`,
    sql`${only(apart.llm, "llm", "''")} AS of_llm`,
    sql`${only(apart.provider, "provider", "''")} AS of_provider`,
    sql`${only(apart.tier, "tier", "''")} AS of_tier`,
    sql`${only(apart.detail, "detail", "''")} AS of_detail`,
    sql`toInt64(${withCosts ? bandOf(inputs) : sql`0`}) AS band`,
    sql`${only(apart.shape, "shape", "0")} AS of_shape`,
    sql`usages > 0 AS is_used`,
  ];
}

/** How many of the inputs that cut prices are smaller than that of a request. */
function bandOf(inputs: readonly number[]): Sql {
  if (inputs.length === 0) return sql`0`;
  return join(
    inputs.map((cut) => sql`(input_max > ${param("Float64", cut)})`),
    " + ",
  );
}

/** Only what is asked for is taken apart. */
function columnsOf(question: CellsQuestion): Sql {
  const { columns, latency, withCosts, apart, inputs } = question;
  const some: Readonly<Record<string, boolean>> = {
    llm: apart.llm,
    provider: apart.provider,
    tier: apart.tier,
    detail: apart.detail,
    shape: apart.shape,
    uncached: withCosts,
    charged_requests: apart.fees,
    input_max: withCosts && inputs.length > 0,
    latency: latency !== undefined,
  };
  const always = ["at", "calls", "errors", "usages", ...countFields.map(({ wire }) => wire)];
  const asked = Object.keys(some).filter((name) => some[name]);
  return join(
    [...always, ...asked, ...columns].map((name) => trusted(name)),
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
