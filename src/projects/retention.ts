import { param, sql, trusted, type Sql } from "../query/sql.ts";
import { hourOf } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { DeletionDeps } from "./delete-project.ts";

type RetentionDeps = Omit<DeletionDeps, "deletions" | "betweenWrites">;

const TAG = "retention";
const DAY_MS = 86_400_000;
const MAX_SPANS = 100;

interface Age {
  readonly cutoff: Sql;
  /** The same in hours since the epoch, and the hours before it under which younger calls lie. */
  readonly cutoffHour: Sql;
  readonly keptHours: Sql;
}

/** An end that is not merged with its start is deleted alone; a tombstone stays, so that its call stays deleted. */
const isOlderCall = ({ cutoff }: Age): Sql =>
  sql`(started_at < ${cutoff} OR (started_at IS NULL AND ended_at < ${cutoff}))`;
const isOlderHour = ({ cutoffHour, keptHours }: Age): Sql =>
  sql`(hour < ${cutoffHour} AND NOT has(${keptHours}, hour))`;

/** Which rows are from before a day. What finds calls goes after them. */
const isOlder: Readonly<Record<string, (age: Age) => Sql>> = {
  calls: isOlderCall,
  call_traces: isOlderHour,
  trace_hours: isOlderHour,
  call_hours: isOlderHour,
  parked_parts: ({ cutoff }) => sql`parked_at < ${cutoff}`,
  feedback: ({ cutoff }) => sql`created_at < ${cutoff}`,
  feedback_times: ({ cutoff }) => sql`created_at < ${cutoff}`,
};

/** The days that a project keeps its rows; null: for ever. */
export async function readRetention({ engine }: RetentionDeps, project: Project): Promise<number | null> {
  const rows = await engine.rows<{ days: number | null }>(
    sql`SELECT days FROM retention FINAL WHERE project_id = ${param("String", project)}`,
    { name: "retention_read" },
  );
  return rows[0]?.days ?? null;
}

export async function saveRetention(
  { engine, clock }: RetentionDeps,
  project: Project,
  days: number | null,
): Promise<void> {
  await engine.insert("retention", [{ project_id: project, days, set_at_ms: clock.now() }], {
    name: "retention_save",
  });
}

/** Deletes rows older than their project's retention. By whole days, so that a part is rewritten at most once a day. */
export async function deleteExpired({ engine, mutations, clock }: RetentionDeps): Promise<void> {
  if (await mutations.areRunning(TAG)) return;
  const spans = await engine.rows<{ days: number; projects: readonly string[] }>(
    sql`SELECT days, groupArray(project_id) AS projects FROM retention FINAL WHERE days IS NOT NULL
        GROUP BY days ORDER BY rand() LIMIT ${param("UInt32", MAX_SPANS)}`,
    { name: "retention_spans", limits: "maintenance" },
  );
  for (const { days, projects } of spans) {
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    const age = await ageOf(engine, projects, today - days * DAY_MS);
    for (const [table, older] of Object.entries(isOlder)) {
      const expired = sql`project_id IN ${param("Array(String)", projects)} AND ${older(age)}`;
      const found = await engine.rows(sql`SELECT 1 AS one FROM ${trusted(table)} WHERE ${expired} LIMIT 1`, {
        name: "retention_find",
        limits: "maintenance",
      });
      if (found.length > 0)
        await mutations.start(table, sql`DELETE WHERE ${expired} AND ${mutations.mark(TAG)}`);
    }
  }
}

/** A call is stored under the hour of its first start; another start may state a later one. */
async function ageOf(
  engine: RetentionDeps["engine"],
  projects: readonly string[],
  cutoffMs: number,
): Promise<Age> {
  const cutoff = sql`fromUnixTimestamp64Milli(${param("Int64", cutoffMs)}, 'UTC')`;
  const cutoffHour = sql`${param("Int64", hourOf(cutoffMs * 1000))}`;
  const kept = await engine.rows<{ hour: number }>(
    sql`SELECT DISTINCT hour FROM calls WHERE project_id IN ${param("Array(String)", projects)}
          AND hour < ${cutoffHour} AND started_at >= ${cutoff}`,
    { name: "retention_kept", limits: "maintenance" },
  );
  const keptHours = sql`${param(
    "Array(Int64)",
    kept.map((row) => row.hour),
  )}`;
  return { cutoff, cutoffHour, keptHours };
}
