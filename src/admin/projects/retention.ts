import { randomUUID } from "node:crypto";
import { endAudit, type AuditEntry, type AuditLogger } from "../../http/audit/audit-log.ts";
import type { Engine } from "../../store/engine.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { hourOf } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import type { Change } from "./mutations.ts";

export interface RetentionDeps extends Omit<DeletionDeps, "deletions"> {
  readonly log: AuditLogger;
}

const DAY_MS = 86_400_000;
const MAX_SPANS = 100;

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

/** Deletes rows older than the retention of their project, in whole days, so that a data part is rewritten at most once a day. */
export async function deleteExpired(deps: RetentionDeps): Promise<void> {
  const { engine, clock } = deps;
  const spans = await engine.rows<{ days: number; projects: readonly Project[] }>(
    sql`SELECT days, groupArray(project_id) AS projects FROM retention FINAL WHERE days IS NOT NULL
        GROUP BY days ORDER BY rand() LIMIT ${param("UInt32", MAX_SPANS)}`,
    { name: "retention_spans", limits: "maintenance" },
  );
  for (const { days, projects } of spans)
    await deleteBefore(deps, projects, (Math.floor(clock.now() / DAY_MS) - days) * DAY_MS, days);
}

/** Deletes rows of projects before an instant. The audit log names the projects and has the days of their retention. */
async function deleteBefore(
  deps: RetentionDeps,
  projects: readonly Project[],
  beforeMs: number,
  days: number,
): Promise<void> {
  const changes: Change[] = [];
  const affected = new Set<Project>();
  for (const { table, rows } of expiredRows(beforeMs)) {
    const found = await deps.engine.rows<{ project_id: Project }>(
      sql`SELECT DISTINCT project_id FROM ${trusted(table)}
          WHERE project_id IN ${param("Array(String)", projects)} AND (${rows})`,
      { name: "retention_find", limits: "maintenance" },
    );
    if (found.length > 0) changes.push({ table, rows });
    for (const { project_id } of found) affected.add(project_id);
  }
  if (affected.size === 0) return;
  const details = { days, before: new Date(beforeMs).toISOString() };
  let outcome: AuditEntry["outcome"] = "failed";
  try {
    await deps.runExclusive(() => deps.mutations.start("retention", [...affected], changes));
    outcome = "done";
  } finally {
    const entries = [...affected].map((project): AuditEntry => ({
      // there is no request
      key_id: "service",
      key_name: "retention",
      request_id: "",
      id: randomUUID(),
      at_us: deps.clock.now() * 1000,
      action: "retention.delete",
      projects: [project],
      details,
      outcome,
      status: 0,
    }));
    await endAudit(deps.engine, deps.log, entries, details);
  }
}

/**
 * Builds conditions for rows before an instant, by table: first `calls`, then the indexes of its storage keys. A call is as old
 * as its hour bucket, which all of its events have: that of its first start. A lone tombstone stays, so that its call stays deleted.
 */
function expiredRows(beforeMs: number): readonly { readonly table: string; readonly rows: Sql }[] {
  const isBefore = sql`hour < ${param("Int64", hourOf(beforeMs * 1000))}`;
  const instant = sql`fromUnixTimestamp64Milli(${param("Int64", beforeMs)}, 'UTC')`;
  const older = {
    calls: sql`${isBefore} AND NOT (started_at IS NULL AND deleted_at IS NOT NULL)`,
    call_keys: isBefore,
    trace_hours: isBefore,
    multi_hour_traces: isBefore,
    usage_rollup: isBefore,
    pending_call_events: sql`stored_at < ${instant}`,
    feedback: sql`created_at < ${instant}`,
    feedback_keys: sql`created_at < ${instant}`,
    agent_points: isBefore,
    dataset_exports: sql`created_at < ${instant}`,
    dataset_export_calls: sql`created_at < ${instant}`,
  };
  return Object.entries(older).map(([table, rows]) => ({ table, rows }));
}
