import type { Engine } from "../../store/engine.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { EVER, type HourRange } from "../../query/bounds/time-range.ts";
import { keyHours } from "../../query/key-hours.ts";
import { hourOf } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import type { RetentionAudit } from "./retention-audit.ts";

export interface RetentionDeps extends Omit<DeletionDeps, "deletions"> {
  readonly audit: RetentionAudit;
}

const TAG = "retention";
const DAY_MS = 86_400_000;
const MAX_SPANS = 100;

/** A replicated mutation must fit into one node of Keeper. */
const MAX_KEYS = 1000;

/** What is older than a day. A call is as old as its start says, and lies under the hour of its first start. */
interface Age {
  readonly cutoff: Sql;
  /** The same in hours since the epoch. */
  readonly cutoffHour: Sql;
  /** Hours before it under which calls lie that another start has moved behind it. */
  readonly keptHours: Sql;
  /** Those of these hours all of whose calls stay, because they are too many to name. */
  readonly wholeHours: Sql;
  /** The calls of the others that stay, and the calls under later hours that go, by their keys. */
  readonly keptCalls: Sql;
  readonly movedCalls: Sql;
}

const callKey = sql`concat(project_id, '\n', toString(hour), '\n', toString(length(trace_id)), '\n', trace_id, id)`;

/** All parts of a call have one key and go together, merged or not. A tombstone alone stays, so that its call stays deleted. */
const isOlderCall = ({ cutoffHour, wholeHours, keptCalls, movedCalls }: Age): Sql =>
  sql`((hour < ${cutoffHour} AND NOT has(${wholeHours}, hour) AND ${callKey} NOT IN ${keptCalls}
      AND NOT (started_at IS NULL AND deleted_at IS NOT NULL)) OR ${callKey} IN ${movedCalls})`;
const isOlderHour = ({ cutoffHour, keptHours }: Age): Sql =>
  sql`(hour < ${cutoffHour} AND NOT has(${keptHours}, hour))`;

/** Which rows are from before a day. What finds calls goes after them. */
const isOlder: Readonly<Record<string, (age: Age) => Sql>> = {
  calls: isOlderCall,
  call_traces: isOlderHour,
  trace_hours: isOlderHour,
  spanning_traces: isOlderHour,
  usage_ledger: isOlderHour,
  pending_parts: ({ cutoff }) => sql`stored_at < ${cutoff}`,
  feedback: ({ cutoff }) => sql`created_at < ${cutoff}`,
  feedback_times: ({ cutoff }) => sql`created_at < ${cutoff}`,
};

/** The days that a project keeps its rows; null: for ever. */
export async function readRetention(
  { engine }: Pick<RetentionDeps, "engine">,
  project: Project,
): Promise<number | null> {
  const rows = await engine.rows<{ days: number | null }>(
    sql`SELECT days FROM retention FINAL WHERE project_id = ${param("String", project)}`,
    { name: "retention_read" },
  );
  return rows[0]?.days ?? null;
}

export async function saveRetention(
  { engine }: Pick<RetentionDeps, "engine">,
  project: Project,
  days: number | null,
): Promise<void> {
  await engine.insert("retention", [{ project_id: project, days }], { name: "retention_save" });
}

/**
 * Deletes rows older than their project's retention. By whole days, so that a part is rewritten at most once a day. This
 * process writes no part of a call between choosing the calls to delete and starting their deletion.
 */
export async function deleteExpired(deps: RetentionDeps): Promise<void> {
  const { engine, mutations, clock } = deps;
  if (await mutations.areRunning(TAG)) return;
  const spans = await engine.rows<{ days: number; projects: readonly Project[] }>(
    sql`SELECT days, groupArray(project_id) AS projects FROM retention FINAL WHERE days IS NOT NULL
        GROUP BY days ORDER BY rand() LIMIT ${param("UInt32", MAX_SPANS)}`,
    { name: "retention_spans", limits: "maintenance" },
  );
  for (const { days, projects } of spans) {
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    const before = today - days * DAY_MS;
    const expired = await findExpired(engine, projects, await ageOf(engine, projects, before));
    if (expired.size === 0) continue;
    const affected = [...new Set([...expired.values()].flat())];
    await deps.audit(affected, { days, before: new Date(before).toISOString() }, () =>
      deps.whileNoInsertRuns(async () => {
        const age = await ageOf(engine, affected, before);
        for (const [table, some] of expired) {
          await mutations.start(
            table,
            some,
            sql`DELETE WHERE ${isExpired(table, some, age)} AND ${mutations.mark(TAG)}`,
          );
        }
      }),
    );
  }
}

function isExpired(table: string, projects: readonly Project[], age: Age): Sql {
  return sql`project_id IN ${param("Array(String)", projects)} AND ${isOlder[table]!(age)}`;
}

/** The projects that have rows to delete, by table. */
async function findExpired(
  engine: Engine,
  projects: readonly Project[],
  age: Age,
): Promise<ReadonlyMap<string, readonly Project[]>> {
  const expired = new Map<string, readonly Project[]>();
  for (const table of Object.keys(isOlder)) {
    const found = await engine.rows<{ project_id: Project }>(
      sql`SELECT DISTINCT project_id FROM ${trusted(table)} WHERE ${isExpired(table, projects, age)}`,
      { name: "retention_find", limits: "maintenance" },
    );
    if (found.length > 0)
      expired.set(
        table,
        found.map((row) => row.project_id),
      );
  }
  return expired;
}

/** Calls under hours on one side of the cutoff whose start is on the other. */
interface Displaced {
  readonly hour: Sql;
  readonly range: HourRange;
  readonly started: Sql;
}

async function ageOf(engine: Engine, projects: readonly Project[], cutoffMs: number): Promise<Age> {
  const cutoff = sql`fromUnixTimestamp64Milli(${param("Int64", cutoffMs)}, 'UTC')`;
  const cutoffHour = sql`${param("Int64", hourOf(cutoffMs * 1000))}`;
  const ofProjects = sql`project_id IN ${param("Array(String)", projects)}`;
  const displaced = (what: Sql, { hour, range, started }: Displaced): Sql =>
    sql`SELECT DISTINCT ${what} AS found FROM calls FINAL
        PREWHERE ${ofProjects} AND hour ${hour} ${cutoffHour} AND hour IN (${keyHours(ofProjects, { kind: "started", range })})
        WHERE started_at ${started} ${cutoff}`;
  const at = hourOf(cutoffMs * 1000);
  const kept = { hour: sql`<`, range: { ...EVER, from: at }, started: sql`>=` };
  const moved = { hour: sql`>=`, range: { ...EVER, to: at - 1 }, started: sql`<` };
  const read = async <Found>(query: Sql): Promise<readonly Found[]> => {
    const rows = await engine.rows<{ found: Found }>(query, {
      name: "retention_displaced",
      limits: "maintenance",
      mustBeCurrent: true,
    });
    return rows.map((row) => row.found);
  };
  const keptHours = await read<number>(displaced(sql`hour`, kept));
  const keptCalls = await read<string>(
    sql`${displaced(callKey, kept)} LIMIT ${param("UInt32", MAX_KEYS + 1)}`,
  );
  const movedCalls = await read<string>(sql`${displaced(callKey, moved)} LIMIT ${param("UInt32", MAX_KEYS)}`);
  const areTooMany = keptCalls.length > MAX_KEYS;
  return {
    cutoff,
    cutoffHour,
    keptHours: sql`${param("Array(Int64)", keptHours)}`,
    wholeHours: sql`${param("Array(Int64)", areTooMany ? keptHours : [])}`,
    keptCalls: sql`${param("Array(String)", areTooMany ? [] : keptCalls)}`,
    movedCalls: sql`${param("Array(String)", movedCalls)}`,
  };
}
