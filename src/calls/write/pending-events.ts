import { createHash } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { CallEvent } from "../events/call-event.ts";
import { keyText, type CallKey } from "../storage-key/key-lookup.ts";
import { chunksOf } from "../../shared/chunks-of.ts";

/** Event that is pending, or was within the last day, without its columns. */
export interface PendingHeader {
  readonly project: Project;
  readonly id: string;
  readonly kind: CallEvent["kind"];
  /** Larger for an event of the call that was acknowledged later. */
  readonly version: number;
  readonly columnsHash: string;
  /** True if written to its call. */
  readonly resolved: boolean;
}

export interface PendingEvent extends PendingHeader {
  readonly event: CallEvent;
}

interface HeaderRow {
  readonly project_id: Project;
  readonly id: string;
  readonly kind: CallEvent["kind"];
  readonly version: number;
  readonly columns_hash: string;
  readonly resolved: 0 | 1;
}

const IDS_PER_QUERY = 2000;
const MAX_CACHED = 10_000;

export function toPending(project: Project, event: CallEvent, version: number): PendingEvent {
  const columnsHash = createHash("sha256").update(JSON.stringify(event.columns)).digest("hex");
  return { project, id: event.id, kind: event.kind, version, columnsHash, resolved: false, event };
}

export async function addPending(engine: Engine, pending: readonly PendingEvent[]): Promise<void> {
  await engine.insert(
    "pending_call_events",
    pending.map((one) => toRow(one, 0)),
    { name: "pending_call_events_add" },
  );
}

/** Marks events as written to their calls. */
export async function resolvePending(engine: Engine, written: readonly PendingEvent[]): Promise<void> {
  const pending = written.filter((one) => !one.resolved);
  await engine.insert(
    "pending_call_events",
    pending.map((one) => toRow(one, 1)),
    { name: "pending_call_events_resolve" },
  );
}

/** True if any of the projects has pending events; most have none and need no lookup per call. */
export type HasPending = (projects: readonly Project[]) => Promise<boolean>;

/** Creates the check; caches projects without pending events if this process is the only writer. */
export function createPendingCheck(engine: Engine): HasPending {
  const without = new TableCache<true>(engine, "pending_call_events", MAX_CACHED);
  return async (projects) => {
    const began = without.begin();
    const unknown = projects.filter((project) => without.get(project) === undefined);
    if (unknown.length === 0) return false;
    const rows = await engine.rows(
      sql`SELECT 1 AS one FROM pending_call_events WHERE project_id IN ${param("Array(String)", unknown)} LIMIT 1`,
      { name: "pending_call_events_any", limits: "ingest" },
    );
    if (rows.length > 0) return true;
    without.put(
      began,
      0,
      unknown.map((project) => [project, true]),
    );
    return false;
  };
}

/** Reads the headers of calls with pending events, ordered by version, by `keyText`. */
export async function findPendingHeaders(
  engine: Engine,
  keys: readonly CallKey[],
): Promise<ReadonlyMap<string, readonly PendingHeader[]>> {
  const wanted = new Set(keys.map(keyText));
  const found: PendingHeader[] = [];
  for (const chunk of chunksOf(keys, IDS_PER_QUERY)) {
    const rows = await engine.rows<HeaderRow>(
      sql`SELECT project_id, id, kind, version, columns_hash, resolved FROM pending_call_events FINAL
          PREWHERE ${areOf(chunk)} ORDER BY version, stored_at`,
      { name: "pending_call_events_find", limits: "ingest" },
    );
    for (const row of rows) if (wanted.has(keyText(keyOf(row)))) found.push(toHeader(row));
  }
  return Map.groupBy(found, keyText);
}

/** Reads the events of calls from a version on, ordered by version, by `keyText`. */
export async function findPendingEvents(
  engine: Engine,
  from: ReadonlyMap<string, { readonly key: CallKey; readonly version: number }>,
): Promise<ReadonlyMap<string, readonly PendingEvent[]>> {
  const rows = await engine.rows<HeaderRow & { readonly columns: string }>(
    sql`SELECT project_id, id, kind, version, columns_hash, resolved, columns FROM pending_call_events FINAL
        PREWHERE ${areOf([...from.values()].map(({ key }) => key))}
        WHERE version >= ${param("UInt64", Math.min(...[...from.values()].map(({ version }) => version)))}
        ORDER BY version, stored_at`,
    { name: "pending_call_events_read", limits: "ingest" },
  );
  const found = rows.flatMap((row): PendingEvent[] => {
    const first = from.get(keyText(keyOf(row)))?.version;
    if (first === undefined || row.version < first) return [];
    const columns = JSON.parse(row.columns) as CallEvent["columns"];
    return [
      {
        ...toHeader(row),
        event: { id: row.id, kind: row.kind, traceId: undefined, hour: undefined, columns },
      },
    ];
  });
  return Map.groupBy(found, keyText);
}

/** Finds known calls with pending events, left behind by killed writers. */
export async function findOrphaned(engine: Engine, limit: number): Promise<readonly CallKey[]> {
  const rows = await engine.rows<{ project_id: Project; id: string }>(
    sql`SELECT DISTINCT project_id, id FROM pending_call_events FINAL
        WHERE resolved = 0 AND (project_id, id) IN
          (SELECT project_id, id FROM call_keys
           WHERE (project_id, id) IN (SELECT project_id, id FROM pending_call_events FINAL WHERE resolved = 0))
        LIMIT ${param("UInt32", limit)}`,
    { name: "pending_call_events_orphaned", limits: "maintenance" },
  );
  return rows.map(keyOf);
}

/** SQL condition; also matches calls of the other projects with the same ids. */
function areOf(keys: readonly CallKey[]) {
  const projects = [...new Set(keys.map((key) => key.project))];
  const ids = keys.map((key) => key.id);
  return sql`project_id IN ${param("Array(String)", projects)} AND id IN ${param("Array(String)", ids)}`;
}

function keyOf(row: { readonly project_id: Project; readonly id: string }): CallKey {
  return { project: row.project_id, id: row.id };
}

function toHeader(row: HeaderRow): PendingHeader {
  const { kind, version, columns_hash: columnsHash } = row;
  return { ...keyOf(row), kind, version, columnsHash, resolved: row.resolved === 1 };
}

function toRow({ project, id, kind, version, columnsHash, event }: PendingEvent, resolved: 0 | 1) {
  return {
    project_id: project,
    id,
    kind,
    columns_hash: columnsHash,
    columns: JSON.stringify(event.columns),
    version,
    resolved,
  };
}
