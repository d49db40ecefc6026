import { randomUUID } from "node:crypto";
import { endAudit, type AuditEntry, type AuditLogger } from "../../http/audit/audit-log.ts";
import type { Engine } from "../../store/engine.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { ALL_HOURS, type HourRange } from "../../query/bounds/time-range.ts";
import { hourBucketsOf } from "../../query/hour-buckets.ts";
import { hourOf } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import type { Change } from "./mutations.ts";

export interface RetentionDeps extends Omit<DeletionDeps, "deletions"> {
  readonly log: AuditLogger;
}

const KIND = "retention";
const DAY_MS = 86_400_000;
const MAX_SPANS = 100;

/** Limit of a mutation, which must fit into one ClickHouse Keeper node; with more calls to keep, whole hours are kept. */
const MAX_KEYS = 1000;

const callKey = sql`concat(project_id, '\n', toString(hour), '\n', toString(length(trace_id)), '\n', trace_id, id)`;

/** Retention of a project in days; null: forever. */
export async function readRetention(engine: Engine, project: Project): Promise<number | null> {
  const rows = await engine.rows<{ days: number | null }>(
    sql`SELECT days FROM retention FINAL WHERE project_id = ${param("String", project)}`,
    { name: "retention_read" },
  );
  return rows[0]?.days ?? null;
}

export async function saveRetention(engine: Engine, project: Project, days: number | null): Promise<void> {
  await engine.insert("retention", [{ project_id: project, days }], { name: "retention_save" });
}

/**
 * Deletes rows older than the retention of their project, in whole days, so that a data part is rewritten at most once a day.
 * No call event is written between the selection of calls and the start of their deletion.
 */
export async function deleteExpired(deps: RetentionDeps): Promise<void> {
  const { engine, mutations, clock } = deps;
  if (await mutations.areRunning(KIND)) return;
  const spans = await engine.rows<{ days: number; projects: readonly Project[] }>(
    sql`SELECT days, groupArray(project_id) AS projects FROM retention FINAL WHERE days IS NOT NULL
        GROUP BY days ORDER BY rand() LIMIT ${param("UInt32", MAX_SPANS)}`,
    { name: "retention_spans", limits: "maintenance" },
  );
  for (const { days, projects } of spans) {
    await deleteBefore(deps, projects, (Math.floor(clock.now() / DAY_MS) - days) * DAY_MS, days);
  }
}

/** Deletes rows of projects before an instant. The audit log names the projects and has the days of their retention. */
async function deleteBefore(
  deps: RetentionDeps,
  projects: readonly Project[],
  beforeMs: number,
  days: number,
): Promise<void> {
  const { engine, mutations } = deps;
  const tables = new Set<string>();
  const affected = new Set<Project>();
  for (const { table, rows } of await expiredRows(engine, projects, beforeMs)) {
    const found = await engine.rows<{ project_id: Project }>(
      sql`SELECT DISTINCT project_id FROM ${trusted(table)}
          WHERE project_id IN ${param("Array(String)", projects)} AND (${rows})`,
      { name: "retention_find", limits: "maintenance" },
    );
    if (found.length > 0) tables.add(table);
    for (const { project_id } of found) affected.add(project_id);
  }
  if (affected.size === 0) return;
  const details = { days, before: new Date(beforeMs).toISOString() };
  await audited(deps, [...affected], details, () =>
    deps.runExclusive(async () => {
      const expired = await expiredRows(engine, [...affected], beforeMs);
      const changes = expired.filter(({ table }) => tables.has(table));
      await mutations.start(KIND, [...affected], changes);
    }),
  );
}

/**
 * Builds conditions for rows of projects before an instant, by table: first `calls`, then the indexes of its storage keys. A
 * call is as old as its start.
 */
async function expiredRows(
  engine: Engine,
  projects: readonly Project[],
  beforeMs: number,
): Promise<readonly (Change & { readonly rows: Sql })[]> {
  const ofProjects = sql`project_id IN ${param("Array(String)", projects)}`;
  const instant = sql`fromUnixTimestamp64Milli(${param("Int64", beforeMs)}, 'UTC')`;
  const firstHour = hourOf(beforeMs * 1000);
  const isBefore = sql`hour < ${param("Int64", firstHour)}`;
  // the hour of a call is that of its first start; a later start can be on the other side of the boundary
  const startedIn = (range: HourRange): Sql =>
    sql`hour IN (${hourBucketsOf(ofProjects, { kind: "started", range })})`;
  const kept = sql`${isBefore} AND ${startedIn({ ...ALL_HOURS, from: firstHour })} WHERE started_at >= ${instant}`;
  const moved = sql`NOT ${isBefore} AND ${startedIn({ ...ALL_HOURS, to: firstHour - 1 })} WHERE started_at < ${instant}`;
  const read = async <Found>(what: Sql, calls: Sql): Promise<readonly Found[]> => {
    const rows = await engine.rows<{ found: Found }>(
      sql`SELECT DISTINCT ${what} AS found FROM calls FINAL PREWHERE ${ofProjects} AND ${calls}`,
      { name: "retention_displaced", limits: "maintenance", requireCurrent: true },
    );
    return rows.map(({ found }) => found);
  };
  const keptHours = await read<number>(sql`hour`, kept);
  const keptCalls = await read<string>(callKey, sql`${kept} LIMIT ${param("UInt32", MAX_KEYS + 1)}`);
  const movedCalls = await read<string>(callKey, sql`${moved} LIMIT ${param("UInt32", MAX_KEYS)}`);
  const stays =
    keptCalls.length > MAX_KEYS
      ? sql`has(${param("Array(Int64)", keptHours)}, hour)`
      : sql`${callKey} IN ${param("Array(String)", keptCalls)}`;

  // all events of a call are deleted together, merged or not; a lone tombstone stays, so that its call stays deleted
  const calls = sql`${isBefore} AND NOT ${stays} AND NOT (started_at IS NULL AND deleted_at IS NOT NULL)
    OR ${callKey} IN ${param("Array(String)", movedCalls)}`;
  const hours = sql`${isBefore} AND NOT has(${param("Array(Int64)", keptHours)}, hour)`;
  const older = {
    calls,
    call_keys: hours,
    trace_hours: hours,
    multi_hour_traces: hours,
    usage_rollup: hours,
    pending_call_events: sql`stored_at < ${instant}`,
    feedback: sql`created_at < ${instant}`,
    feedback_keys: sql`created_at < ${instant}`,
  };
  return Object.entries(older).map(([table, rows]) => ({ table, rows }));
}

/** Runs a deletion, with an audit entry per project when it has ended. Errors: those of the work. */
async function audited(
  { engine, log, clock }: RetentionDeps,
  projects: readonly Project[],
  details: AuditEntry["details"],
  work: () => Promise<void>,
): Promise<void> {
  let outcome: AuditEntry["outcome"] = "failed";
  try {
    await work();
    outcome = "done";
  } finally {
    const entries = projects.map((project): AuditEntry => ({
      // there is no request
      key_id: "service",
      key_name: "retention",
      request_id: "",
      id: randomUUID(),
      at_us: clock.now() * 1000,
      action: "retention.delete",
      projects: [project],
      details,
      outcome,
      status: 0,
    }));
    await endAudit(engine, log, entries, details);
  }
}
