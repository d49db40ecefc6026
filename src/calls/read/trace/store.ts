import type { Engine } from "../../../store/engine.ts";
import { isTooManyBytes } from "../../../store/rows/read-in-pages.ts";
import { columns, HAS_ENDED, IS_VISIBLE } from "../../../query/fields/columns.ts";
import { inTraces } from "../../../query/trace-hours.ts";
import { join, param, sql, trusted, type Sql } from "../../../query/sql.ts";
import { AppError } from "../../../shared/errors.ts";
import { parseJson } from "../../../shared/json.ts";
import type { Project } from "../../../shared/project.ts";
import { LINE_NAMES, type TraceSize } from "./schema.ts";

export interface TraceRequest {
  readonly project: Project;
  readonly traceId: string;
}

interface ReadOptions {
  /** Maximum calls per response. */
  readonly maxCalls: number;
  readonly signal: AbortSignal;
  readonly page?: PageSize;
}

/** Limits of a page; one with more bytes is read again in smaller pages, unless it has one call. */
interface PageSize {
  readonly calls: number;
  readonly bytes: number;
}

// above 100,000: a full page costs another read, and people choose round numbers for large traces
const PAGE: PageSize = { calls: 131_072, bytes: 64 * 1024 * 1024 };
const EXCEPTION_CHARACTERS = 200;
const NEWLINE = 0x0a;

/**
 * Reads the calls of a trace, oldest first, as pages of whole JSON lines encoded by ClickHouse. Throws `StorageError`;
 * `too_many_calls` before the first page.
 */
export async function* readTraceLines(
  engine: Engine,
  trace: TraceRequest,
  { maxCalls, signal, page: most = PAGE }: ReadOptions,
): AsyncGenerator<Buffer> {
  let after: PageEnd | undefined;
  for (let size = Math.min(most.calls, maxCalls + 1); ;) {
    const page = await readPage(engine, { ...trace, after, size, bytes: most.bytes }, signal);
    if (page === undefined) {
      size = Math.ceil(size / 4);
      continue;
    }
    const count = countLines(page);
    if (after === undefined && count === size) await checkCallCount(maxCalls, engine, { ...trace, signal });
    if (count > 0) yield page;
    if (count < size) return;
    after = endOf(page);
  }
}

/** Last call of a page; the next page begins after it, by start and id. */
interface PageEnd {
  readonly startedMs: number;
  readonly id: string;
}

interface PageRequest extends TraceRequest {
  readonly after: PageEnd | undefined;
  readonly size: number;
  readonly bytes: number;
}

function columnSql(name: string): Sql {
  return columns.get(name)!.sql;
}

function millis(instant: Sql): Sql {
  return sql`toUnixTimestamp64Micro(${instant}) / 1000`;
}

const STARTED_MS = millis(sql`assumeNotNull(started_at)`);
const VALUES = {
  id: sql`id`,
  parent_id: sql`nullIf(${columnSql("parent_id")}, '')`,
  op_name: columnSql("op_name"),
  display_name: sql`nullIf(${columnSql("display_name")}, '')`,
  started_ms: STARTED_MS,
  ended_ms: millis(columnSql("ended_at")),
  exception: sql`nullIf(leftUTF8(${columnSql("exception")}, ${trusted(String(EXCEPTION_CHARACTERS))}), '')`,
} satisfies Record<(typeof LINE_NAMES)[number], Sql>;
const LINE = join(
  LINE_NAMES.map((name) => VALUES[name]),
  ", ",
);

/** `undefined` if the page would exceed `bytes`. */
async function readPage(
  engine: Engine,
  { project, traceId, after, size, bytes }: PageRequest,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const isAfter =
    after === undefined
      ? sql``
      : sql` AND (${STARTED_MS}, id) > (${param("Float64", after.startedMs)}, ${param("String", after.id)})`;
  const page = sql`SELECT ${LINE} FROM calls FINAL PREWHERE ${ofTraces(project, [traceId])} WHERE ${IS_VISIBLE}${isAfter}
    ORDER BY started_at, id LIMIT ${param("UInt32", size)}`;
  const bound = size === 1 ? sql`` : sql`SETTINGS max_result_bytes = ${trusted(String(bytes))}`;
  try {
    return await engine.bytes(sql`${page} ${bound}`, "JSONCompactEachRow", {
      name: "trace_calls",
      limits: "heavy",
      signal,
    });
  } catch (error) {
    if (isTooManyBytes(error) && size > 1) return undefined;
    throw error;
  }
}

function ofTraces(project: Project, traceIds: readonly string[]): Sql {
  return sql`project_id = ${param("String", project)} AND ${inTraces(project, traceIds)}`;
}

async function checkCallCount(
  maxCalls: number,
  engine: Engine,
  { project, traceId, signal }: TraceRequest & { readonly signal: AbortSignal },
): Promise<void> {
  const [size] = await readSizes(engine, { project, traceIds: [traceId] }, signal);
  if (size === undefined || size.calls <= maxCalls) return;
  throw new AppError(
    "too_many_calls",
    `The trace has ${size.calls} calls; one response reads at most ${maxCalls}.`,
  );
}

function countLines(page: Buffer): number {
  let count = 0;
  for (let at = page.indexOf(NEWLINE); at >= 0; at = page.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

function endOf(page: Buffer): PageEnd {
  const end = page.length - 1;
  const line = page.toString("utf8", page.lastIndexOf(NEWLINE, end - 1) + 1, end);
  const values = parseJson(line) as unknown[];
  return { id: String(values[0]), startedMs: Number(values[4]) };
}

/** Counts the calls of whole traces. Leaves out traces without calls. */
export async function readSizes(
  engine: Engine,
  { project, traceIds }: { readonly project: Project; readonly traceIds: readonly string[] },
  signal: AbortSignal,
): Promise<TraceSize[]> {
  if (traceIds.length === 0) return [];
  return engine.rows<TraceSize>(
    sql`SELECT trace_id, count() AS calls, countIf(${columnSql("exception")} != '') AS failed,
          countIf(NOT ${HAS_ENDED}) AS unfinished
        FROM calls FINAL PREWHERE ${ofTraces(project, traceIds)} WHERE ${IS_VISIBLE} GROUP BY trace_id ORDER BY trace_id`,
    { name: "trace_sizes", limits: "heavy", signal },
  );
}
