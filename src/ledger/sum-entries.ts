import type { Engine } from "../store/engine.ts";
import { inTurns } from "../shares/turns.ts";
import { eachItem } from "../shared/steps.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { COUNT_SLOTS, countFields } from "../usage/count-fields.ts";
import { NO_LATENCIES, type AddedUp, type Cell } from "./cell.ts";
import { NO_LATENCY } from "./entry.ts";
import type { Head } from "./heads.ts";
import { oneOf } from "./hour.ts";
import { smallerThanInput } from "./input-class.ts";
import type { PriceCuts } from "./price-cuts.ts";
import type { LedgerQuestion } from "./question.ts";

/** Which entries to add up, and what tells cells apart. */
export interface Summing {
  readonly project: Project;
  readonly heads: readonly Head[];
  readonly question: LedgerQuestion;
  /** Where cells begin, in microseconds since the epoch, ascending; the first one has what comes before it too. */
  readonly cutsUs: readonly number[];
  readonly prices: PriceCuts;
  readonly withUnits: boolean;
  /** Whether no quarter of an hour of these heads is cut: the table keeps what calls come to by quarters. */
  readonly byQuarters: boolean;
}

/** Entries that lie between two cuts and between two sizes of requests, have the same fields and are priced alike. */
export interface SummedEntries
  extends Pick<Cell, "atUs" | "fields" | "calls" | "errors" | "latency" | "latencies">, AddedUp {
  /** See `pricedAsOf`. */
  readonly pricedAs: string;
  /** How many of the sizes that cut prices are smaller. */
  readonly priceTier: number;
  /** How many entries it has. */
  readonly entries: number;
}

/** They are read from bytes each time, so that as few as possible are in memory at once. */
export interface Sums {
  readonly sums: Iterable<SummedEntries>;
  readonly prices: PriceCuts;
}

/** Of entries that are not asked for. No cut: those are instants of calls or later. */
const OUTSIDE = Number.MIN_SAFE_INTEGER;
export const QUARTER_US = 900_000_000;

/**
 * Adds up all entries of some heads in one statement. Undefined: not all of them are there any more, each once, because the
 * hour was settled again.
 */
export async function sumEntries(
  engine: Engine,
  summing: Summing,
  signal: AbortSignal,
): Promise<Sums | undefined> {
  const bytes = await engine.bytes(statementOf(summing), "RowBinary", {
    name: "ledger_sum",
    limits: "heavy",
    signal,
  });
  const sums = { [Symbol.iterator]: () => readSums(bytes, summing) };
  let found = 0;
  await inTurns(eachItem(sums, ({ entries }) => (found += entries)));
  const expected = summing.heads.reduce((sum, { entries }) => sum + entries, 0);
  return found === expected ? { sums, prices: summing.prices } : undefined;
}

function* readSums(bytes: Buffer, summing: Summing): Generator<SummedEntries> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) yield readSum(reader, summing);
}

function statementOf({ project, heads, question, cutsUs, prices, withUnits, byQuarters }: Summing): Sql {
  const { fields, condition, latencies } = question;
  const ifAsked = (value: Sql, instead: string): Sql =>
    condition === undefined ? value : sql`if(ifNull(${condition}, 0), ${value}, ${trusted(instead)})`;
  const at = trusted(byQuarters ? `intDiv(at, ${QUARTER_US}) * ${QUARTER_US}` : "at");
  const begin = sql`roundDown(${at}, ${param("Array(Int64)", cutsUs)})`;
  const ended = trusted(`latency != ${NO_LATENCY}`);
  const sums = [
    sql`count()`,
    ...["calls", "errors", ...countFields.map(({ wire }) => wire), "uncached", "charged_requests"].map(
      (name) => trusted(`sum(${name})`),
    ),
    ...(latencies === "none"
      ? []
      : [
          sql`countIf(${ended})`,
          ...["sumIf", "minIf", "maxIf"].map((name) => sql`${trusted(name)}(latency, ${ended})`),
        ]),
  ].map((number) => sql`toInt64(${number})`);
  const lists = [
    ...(withUnits ? [sql`CAST(sumForEach(units), 'Array(Int64)')`] : []),
    ...(latencies === "each" ? [sql`groupArrayIf(latency, ${ended})`] : []),
  ];
  const keys = [
    sql`toInt64(${ifAsked(begin, `toInt64(${OUTSIDE})`)})`,
    sql`priced_as`,
    sql`toInt64(${smallerThanInput(prices.inputs)})`,
    ...fields.map((name) => ifAsked(sql`CAST(${trusted(name)}, 'String')`, "''")),
  ];
  const hours = oneOf([...new Set(heads.map(({ hour }) => hour))]);
  const settlements = param(
    "Array(UInt64)",
    heads.map(({ settlement }) => settlement),
  );
  return sql`SELECT ${join([...keys, ...sums, ...lists], ", ")}
    FROM (SELECT *, if(is_root = 1, '', '-') AS parent_id FROM usage_ledger
      WHERE project_id = ${param("String", project)} AND is_entry = 1 AND ${hours} AND settlement IN ${settlements})
    GROUP BY ${trusted(keys.map((_, place) => place + 1).join(", "))}`;
}

function readSum(reader: RowBinaryReader, { question, withUnits }: Summing): SummedEntries {
  const { fields, latencies } = question;
  const atUs = reader.int64();
  const pricedAs = reader.string();
  const priceTier = reader.int64();
  const values = fields.map(() => reader.string());
  const [entries, calls, errors] = [reader.int64(), reader.int64(), reader.int64()];
  const counts = Float64Array.from({ length: COUNT_SLOTS }, () => reader.int64());
  const [uncached, chargedRequests] = [reader.int64(), reader.int64()];
  const latency =
    latencies === "none"
      ? NO_LATENCIES
      : { count: reader.int64(), sum: reader.int64(), min: reader.int64(), max: reader.int64() };
  const units = withUnits ? reader.int64s() : [];
  const each = latencies === "each" ? reader.int64s() : [];
  const of = { atUs, pricedAs, priceTier, fields: values, calls, errors, latency, latencies: each };
  return { ...of, entries, usages: entries, counts, uncached, chargedRequests, units };
}

/** Whether it was asked for. */
export function isAsked({ atUs }: SummedEntries): boolean {
  return atUs !== OUTSIDE;
}
