import type { Engine } from "../clickhouse/engine.ts";
import { readInPages } from "../clickhouse/read-in-pages.ts";
import { RowBinaryReader } from "../clickhouse/row-binary.ts";
import { selectCalls } from "../query/index.ts";
import { param, sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";
import type { CallsPlan } from "./plan.ts";
import { readStoredCalls, storedCallColumns, type Payload, type StoredCall } from "./stored-call.ts";

interface CallKey {
  readonly traceId: string;
  readonly id: string;
}

/** Which calls, in their order. They stay encoded: a million of them are some 70 MB. */
export interface SelectedCalls {
  readonly keys: Iterator<CallKey>;
  /** There are more than the limit. */
  readonly truncated: boolean;
}

export async function selectKeys(
  engine: Engine,
  plan: CallsPlan,
  {
    limit,
    offset,
    signal,
  }: { readonly limit: number; readonly offset: number; readonly signal: AbortSignal },
): Promise<SelectedCalls> {
  const selection = { ...plan, columns: sql`trace_id, id`, limit: limit + 1, offset };
  const bytes = await engine.bytes(selectCalls(selection), "RowBinary", {
    name: "calls_select",
    limits: "heavy",
    signal,
  });
  return { keys: readKeys(bytes).take(limit), truncated: hasMoreThan(limit, bytes) };
}

function* readKeys(bytes: Buffer): Generator<CallKey, undefined> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) yield { traceId: reader.string(), id: reader.string() };
}

function hasMoreThan(limit: number, bytes: Buffer): boolean {
  const reader = new RowBinaryReader(bytes);
  let count = 0;
  for (; !reader.done && count <= limit; count++) {
    reader.skipString();
    reader.skipString();
  }
  return count > limit;
}

/** Calls in the order of their keys, page by page. One that has gone since is left out. Errors: `StorageError`. */
export async function* readCalls(
  engine: Engine,
  keys: Iterator<CallKey>,
  {
    project,
    payloads,
    signal,
  }: { readonly project: Project; readonly payloads: ReadonlySet<Payload>; readonly signal: AbortSignal },
): AsyncGenerator<readonly StoredCall[]> {
  const columns = storedCallColumns(payloads);
  const pages = readInPages(keys, {
    engine,
    name: "calls_read",
    signal,
    statement: (page) => {
      const traceIds = param("Array(String)", [...new Set(page.map((key) => key.traceId))]);
      const ids = param(
        "Array(String)",
        page.map((key) => key.id),
      );
      return sql`SELECT ${columns} FROM calls FINAL
        PREWHERE project_id = ${param("String", project)} AND trace_id IN ${traceIds} AND id IN ${ids}
        WHERE deleted_at IS NULL`;
    },
  });
  for await (const { keys: page, bytes } of pages) {
    // two traces may have the same id
    const found = new Map(readStoredCalls(bytes).map((call) => [pairKey(call.trace_id, call.id), call]));
    yield page.flatMap((key) => found.get(pairKey(key.traceId, key.id)) ?? []);
  }
}

export async function countCalls(engine: Engine, plan: CallsPlan, signal: AbortSignal): Promise<number> {
  const calls = selectCalls({ ...plan, columns: sql`id` });
  const [row] = await engine.rows<{ count: number }>(sql`SELECT count() AS count FROM (${calls})`, {
    name: "calls_count",
    limits: "heavy",
    signal,
  });
  return row?.count ?? 0;
}
