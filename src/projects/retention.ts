import { param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { DeletionDeps } from "./delete-project.ts";

type RetentionDeps = Omit<DeletionDeps, "deletions" | "betweenWrites">;

const TAG = "retention";
const DAY_MS = 86_400_000;
const MAX_SPANS = 100;

/**
 * Which rows are from before a day. An end that is not merged with its start goes by itself; a tombstone stays, so
 * that its call stays deleted.
 */
const isOlder: Readonly<Record<string, (cutoff: Sql) => Sql>> = {
  calls: (cutoff) => sql`(started_at < ${cutoff} OR (started_at IS NULL AND ended_at < ${cutoff}))`,
  call_traces: (cutoff) => sql`started_at < ${cutoff}`,
  parked_parts: (cutoff) => sql`parked_at < ${cutoff}`,
  feedback: (cutoff) => sql`created_at < ${cutoff}`,
  feedback_times: (cutoff) => sql`created_at < ${cutoff}`,
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

/** Deletes what is older than its project keeps. By whole days, so that a part is written anew once a day at most. */
export async function deleteExpired({ engine, mutations, clock }: RetentionDeps): Promise<void> {
  if (await mutations.areRunning(TAG)) return;
  const spans = await engine.rows<{ days: number; projects: readonly string[] }>(
    sql`SELECT days, groupArray(project_id) AS projects FROM retention FINAL WHERE days IS NOT NULL
        GROUP BY days ORDER BY rand() LIMIT ${param("UInt32", MAX_SPANS)}`,
    { name: "retention_spans", limits: "maintenance" },
  );
  for (const { days, projects } of spans) {
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    const cutoff = sql`fromUnixTimestamp64Milli(${param("Int64", today - days * DAY_MS)}, 'UTC')`;
    for (const [table, older] of Object.entries(isOlder)) {
      const expired = sql`project_id IN ${param("Array(String)", projects)} AND ${older(cutoff)}`;
      const found = await engine.rows(sql`SELECT 1 AS one FROM ${trusted(table)} WHERE ${expired} LIMIT 1`, {
        name: "retention_find",
        limits: "maintenance",
      });
      if (found.length > 0)
        await mutations.start(table, sql`DELETE WHERE ${expired} AND ${mutations.mark(TAG)}`);
    }
  }
}
