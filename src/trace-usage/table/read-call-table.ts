import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { NativeReader, rangesFor, type TextRanges } from "../../store/rows/native-reader.ts";
import { CLEARED_INSTANT } from "../../query/fields/columns.ts";
import { join, sql, type Sql } from "../../query/sql.ts";
import { release, viewOf } from "../../shared/buffers.ts";
import { readInstant } from "../../shared/instant.ts";
import { CallRows } from "./call-rows.ts";
import {
  callTable,
  flagsOf,
  hasInclusive,
  NONE,
  someCountElsewhere,
  withSelected,
  type CallTable,
} from "./call-table.ts";
import { findSharedCompletions } from "../fold/shared-completions.ts";
import { IdIndex } from "./id-index.ts";
import type { LlmDictionary } from "./llm-dictionary.ts";
import type { ReadMore } from "./more-columns.ts";
import { parseUsageRows } from "./parse-usage-column.ts";
import { areSameBytes, type ByteRange } from "./id-bytes.ts";
import { TraceDictionary, type KnownTrace } from "./trace-dictionary.ts";
import { UsageEntries } from "./usage-entries.ts";

export interface TableOptions {
  readonly readMore?: ReadMore | undefined;
  /** True to resolve parents only as far as own usage depends on them. */
  readonly forOwn?: boolean;
}

const CLEARED_US = readInstant(CLEARED_INSTANT)!;

/** Rows of `calls` that become a table. */
export interface FoldedRows {
  /** Condition; SQL of a column. */
  readonly selected: Sql;
  /** True to include trace ids, for several traces. */
  readonly ofTraces: boolean;
  /** Condition; other rows are empty. Default: all rows are calls. */
  readonly isCall?: Sql;
}

interface Block {
  readonly source: Buffer;
  readonly rows: CallRows;
  readonly usage: UsageEntries;
  readonly names: LlmDictionary;
  /** `undefined` if all calls are of one trace. */
  readonly traces: TraceDictionary | undefined;
  /** Number of the first call of the block. */
  readonly first: number;
  readonly count: number;
}

interface FoldColumns {
  /** SQL of one column or several; `or`: what `column` is in rows that are no calls. */
  readonly select: (rows: FoldedRows, or: (column: Sql, empty: Sql) => Sql) => Sql | undefined;
  readonly read: (reader: NativeReader, block: Block) => Steps<void> | void;
}

const [EMPTY, NULL] = [sql`''`, sql`NULL`];

/** The columns of the fold, in the order of the statement and of its bytes. */
const FOLD_COLUMNS: readonly FoldColumns[] = [
  {
    select: ({ ofTraces }, or) => (ofTraces ? or(sql`trace_id`, EMPTY) : undefined),
    read(reader, { traces, rows, first, count }) {
      if (traces === undefined) return;
      const ids = rangesFor(count);
      reader.strings(ids, 0);
      traces.read(ids, rows.traceOf.subarray(first, first + count));
      release(ids.starts, ids.ends);
    },
  },
  {
    select: (_, or) => or(sql`id`, EMPTY),
    read: (reader, { rows, first }) => reader.strings(rows.ids, first),
  },
  {
    select: (_, or) => or(sql`parent_id`, NULL),
    read: (reader, { rows, first }) => reader.nullableStrings(rows.parentIds, first),
  },
  {
    select: (_, or) => or(sql`completion_id`, NULL),
    read: (reader, { rows, first }) => reader.nullableStrings(rows.completionIds, first),
  },
  {
    select: ({ selected }, or) =>
      sql`${or(sql`ended_at`, NULL)}, ${or(sql`inclusive`, NULL)}, ${or(sql`usage_source`, NULL)}, CAST(ifNull(${selected}, 0), 'UInt8')`,
    read: readFlags,
  },
  {
    select: () => sql`assumeNotNull(started_at)`,
    read: (reader, { rows, first }) => reader.int64s(rows.startedAtUs, first),
  },
  { select: (_, or) => or(sql`usage`, NULL), read: readUsage },
];

/** SQL of the columns that `callTableSteps` reads. */
export function foldColumns(rows: FoldedRows): Sql {
  const { isCall } = rows;
  const or = (column: Sql, empty: Sql): Sql =>
    isCall === undefined ? column : sql`if(${isCall}, ${column}, ${empty})`;
  return join(
    FOLD_COLUMNS.flatMap(({ select }) => select(rows, or) ?? []),
    ", ",
  );
}

/**
 * Decodes calls selected by `foldColumns`, in steps. One table holds the calls of several traces; a parent is only searched in
 * the call's own trace. `traces`: the traces read, if known. `readMore` reads the columns after those of the table.
 */
export function* callTableSteps(
  source: Buffer,
  traces: readonly KnownTrace[] | undefined,
  names: LlmDictionary,
  { readMore, forOwn = false }: TableOptions = {},
): Steps<CallTable> {
  const rows = new CallRows();
  const usage = new UsageEntries();
  const reader = new NativeReader(source);
  const numbers = new TraceDictionary(source, traces ?? []);
  const into = { source, rows, usage, names, traces: traces?.length === 1 ? undefined : numbers };
  for (let count = reader.nextBlock(); count > 0; count = reader.nextBlock()) {
    const first = rows.add(count);
    usage.reserve(count);
    for (const column of FOLD_COLUMNS) {
      yield* column.read(reader, { ...into, first, count }) ?? [];
      yield;
    }
    readMore?.(reader, first, count);
    yield;
  }
  if (traces !== undefined) selectByIds(source, rows, traces);
  const completionOf = findSharedCompletions(source, rows, usage);
  const { count, ids, flags, startedAtUs, usageEnd } = rows;
  yield;
  const decides = !forOwn || completionOf !== undefined || hasInclusive(rows) || someCountElsewhere(rows);
  const parents = decides ? parentsOf(source, rows) : new Int32Array(0);
  const traceCount = traces?.length ?? numbers.count;
  rows.release();
  const columns = { source, ids, parents, flags, startedAtUs, usageEnd, usage, completionOf };
  return callTable({ count, traceCount, ...columns });
}

function readFlags(reader: NativeReader, { rows: { endedAtUs, flags }, first, count }: Block): void {
  reader.nullableInt64s(endedAtUs, first);
  const [inclusive, usageSource] = [reader.nullableUint8s(), reader.nullableUint8s()];
  const selected = reader.uint8s();
  for (let row = 0; row < count; row++) {
    const finished = endedAtUs[first + row]! < CLEARED_US;
    if (!finished) endedAtUs[first + row] = Number.POSITIVE_INFINITY;
    flags[first + row] = flagsOf({
      finished,
      selected: selected[row] === 1,
      inclusive: inclusive[row]!,
      usageSource: usageSource[row]!,
    });
  }
}

function* readUsage(reader: NativeReader, { source, rows, usage, names, first, count }: Block): Steps<void> {
  const texts = rangesFor(count);
  reader.nullableStrings(texts, 0);
  const into = { view: viewOf(source), names, entries: usage };
  const ends = rows.usageEnd.subarray(first, first + count);
  for (let row = 0; row < count; row += ROWS_PER_STEP) {
    parseUsageRows(source, texts, { from: row, to: Math.min(row + ROWS_PER_STEP, count), ends }, into);
    yield;
  }
  release(texts.starts, texts.ends);
}

/**
 * Resolves parents. Ids are often in order of time, so a parent is mostly near: compares neighbours before it builds an index
 * of all ids.
 */
function parentsOf(source: Buffer, { count, ids, parentIds, traceOf }: CallRows): Int32Array {
  const view = viewOf(source);
  const parents = new Int32Array(count);
  let index: IdIndex | undefined;
  let last = NONE;
  const isCalled = (call: number, trace: number, id: ByteRange): boolean =>
    traceOf[call] === trace && areSameBytes(view, id, { start: ids.starts[call]!, end: ids.ends[call]! });
  for (let call = 0; call < count; call++) {
    const id = { start: parentIds.starts[call]!, end: parentIds.ends[call]! };
    const trace = traceOf[call]!;
    if (id.start === id.end) parents[call] = NONE;
    else if (last !== NONE && isCalled(last, trace, id)) parents[call] = last;
    else if (isCalled(call - 1, trace, id)) parents[call] = last = call - 1;
    else if (isCalled(last + 1, trace, id)) parents[call] = last = last + 1;
    else {
      index ??= indexOf(view, { count, ids, traceOf });
      parents[call] = last = index.find(trace, id);
    }
  }
  return parents;
}

function indexOf(source: DataView, rows: Pick<CallRows, "count" | "ids" | "traceOf">): IdIndex {
  const index = new IdIndex(source, rows, rows.count);
  for (let call = 0; call < rows.count; call++) index.add(call);
  return index;
}

/** Selects calls by their ids, if known. */
function selectByIds(source: Buffer, rows: CallRows, traces: readonly KnownTrace[]): void {
  if (traces.every((trace) => trace.ids === undefined)) return;
  for (let call = 0; call < rows.count; call++) {
    const selected = traces[rows.traceOf[call]!]?.ids?.has(textAt(source, rows.ids, call)) ?? false;
    rows.flags[call] = withSelected(rows.flags[call]!, selected);
  }
}

function textAt(source: Buffer, { starts, ends }: TextRanges, row: number): string {
  return source.toString("utf8", starts[row], ends[row]);
}
