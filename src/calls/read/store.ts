import type { Engine } from "../../store/engine.ts";
import { readInPages } from "../../store/rows/read-in-pages.ts";
import { inTraceHours } from "../../query/trace-hours.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { selectCalls } from "../../query/select-calls.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { pairKey } from "../../shared/pair-key.ts";
import { turn } from "../../fairness/turns.ts";
import type { Project } from "../../shared/project.ts";
import type { CallRowKey } from "./call-keys.ts";
import type { ListPlan } from "./plan.ts";
import { readStoredCalls, storedCallColumns, type Payload, type StoredCall } from "./stored-call.ts";

/** Decoding them takes about 5 ms. */
const CALLS_PER_TURN = 1000;

/** Reads calls in the order of their keys, page by page, without calls deleted since. Throws `StorageError`. */
export async function* readListed(
  engine: Engine,
  keys: Iterator<CallRowKey>,
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
    statement: (page) => visibleCalls(project, page, columns),
  });
  for await (const { keys: page, bytes } of pages) {
    // a call id may occur in two traces
    const found = new Map<string, StoredCall>();
    for (const calls of readStoredCalls(bytes, CALLS_PER_TURN)) {
      if (page.length > CALLS_PER_TURN) await turn();
      for (const call of calls) found.set(pairKey(call.trace_id, call.id), call);
    }
    yield page.flatMap((key) => found.get(pairKey(key.traceId, key.id)) ?? []);
  }
}

/** Selects expressions over calls by their keys, without deleted ones. */
export function visibleCalls(project: Project, page: readonly CallRowKey[], selected: Sql): Sql {
  const ids = param(
    "Array(String)",
    page.map((key) => key.id),
  );
  return sql`SELECT ${selected} FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND id IN ${ids} AND ${inTraceHours(page)}
    WHERE ${IS_VISIBLE}`;
}

export async function countCalls(engine: Engine, plan: ListPlan, signal: AbortSignal): Promise<number> {
  const calls = selectCalls({ ...plan, columns: sql`id` });
  const [row] = await engine.rows<{ count: number }>(sql`SELECT count() AS count FROM (${calls})`, {
    name: "calls_count",
    limits: "heavy",
    signal,
  });
  return row?.count ?? 0;
}
