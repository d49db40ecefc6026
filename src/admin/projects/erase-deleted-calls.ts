import { param, sql, trusted, type Param, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import type { Change } from "./mutations.ts";

/** Columns cleared in a deleted call. Ids, times and the deletion stay, so that late events stay deleted too. */
export const ERASED_COLUMNS = [
  "op_name",
  "start_display_name",
  "end_display_name",
  "renamed_to",
  "thread_id",
  "turn_id",
  "svc_user_id",
  "svc_run_id",
  "svc_run_step",
  "api_key",
  "inputs",
  "input_refs",
  "attributes",
  "output",
  "output_refs",
  "summary",
  "exception",
  "usage",
  "completion_id",
  "reports",
] as const;

const KIND = "calls";
/** Limit of a mutation, which must fit into one ClickHouse Keeper node of a megabyte. */
const MAX_KEYS = 20_000;
/** Time after a deletion in which late events of the call are erased too. */
const LATE_MS = 7 * 86_400_000;

/** Rows of a table that may contain content of deleted calls. */
interface Content extends Omit<Change, "rows"> {
  /** Columns that identify what is erased together. */
  readonly key: Sql;
  /** Condition for rows with content. */
  readonly hasContent: Sql;
  /** Condition for rows that the mutation erases without their key. Default: none. */
  readonly isMarked?: Sql;
  /** Condition for rows of deleted calls in some projects. */
  readonly isDeleted: (projects: Param) => Sql;
}

const fromDeletedCalls = (columns: Sql, projects: Param): Sql =>
  sql`(SELECT ${columns} FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL)`;
const callKey = sql`project_id, trace_id, id`;
const callId = sql`project_id, id`;
const callHour = sql`project_id, hour`;

const contents: readonly Content[] = [
  {
    table: "calls",
    action: trusted(`UPDATE ${ERASED_COLUMNS.map((name) => `${name} = NULL`).join()}`),
    key: callKey,
    hasContent: trusted(ERASED_COLUMNS.map((name) => `${name} IS NOT NULL`).join(" OR ")),
    // rows not yet merged with their tombstone are not marked
    isMarked: sql`deleted_at IS NOT NULL`,
    // read only traces with deleted calls
    isDeleted: (projects) => sql`(hour, trace_id) IN
        (SELECT hour, trace_id FROM trace_hours
         WHERE project_id IN ${projects} AND trace_id IN ${fromDeletedCalls(sql`trace_id`, projects)})
      AND (${callKey}) IN ${fromDeletedCalls(callKey, projects)}`,
  },
  {
    table: "pending_call_events",
    key: callId,
    hasContent: sql`NOT JSONHas(columns, 'deleted_at')`,
    isDeleted: (projects) => sql`(${callId}) IN ${fromDeletedCalls(callId, projects)} OR (${callId}) IN
      (SELECT ${callId} FROM pending_call_events WHERE project_id IN ${projects} AND JSONHas(columns, 'deleted_at'))`,
  },
  {
    // batches materialized after the deletion do not contain the call; rows of replaced batches may remain
    table: "usage_rollup",
    key: sql`project_id, batch_id`,
    hasContent: sql`1`,
    isDeleted: (
      projects,
    ) => sql`(${callHour}) IN ${fromDeletedCalls(callHour, projects)} AND (project_id, batch_id) NOT IN
      (SELECT project_id, batch_id FROM usage_rollup
       WHERE project_id IN ${projects} AND kind = 0 AND (${callHour}, manifest.hour_fingerprint) IN
        (SELECT ${callHour}, sum(calls.fingerprint) FROM calls
         WHERE project_id IN ${projects} AND (${callHour}) IN ${fromDeletedCalls(callHour, projects)} GROUP BY ${callHour}))`,
  },
];

/**
 * Erases the content of deleted calls: one mutation per table at a time, for all projects together, because each rewrites the
 * data parts that it touches. A project's deletions advance as soon as a mutation covers its calls.
 */
export async function eraseDeletedCalls(deps: DeletionDeps, maxKeys: number = MAX_KEYS): Promise<void> {
  const { deletions, mutations, clock } = deps;
  const projects = await deletions.projectsOfCalls(clock.now() - LATE_MS);
  const requested = await deletions.at("asked");
  if (projects.length === 0) return;
  for (const tag of await mutations.running()) if (tag.startsWith(`${KIND} `)) return;

  const changes: Change[] = [];
  let covered = projects.length;
  for (const content of contents) {
    const { change, isCutAt } = await selectContent(deps, content, projects, maxKeys);
    if (isCutAt !== undefined) covered = Math.min(covered, projects.indexOf(isCutAt));
    if (change !== undefined) changes.push(change);
  }
  const started = await mutations.start(KIND, projects, changes);
  await mutations.shown(started);
  const erased = new Set(projects.slice(0, covered));
  const running = requested.filter(({ kind, project }) => kind === KIND && erased.has(project));
  if (running.length > 0)
    await deletions.save(running.map((deletion) => ({ ...deletion, step: "running", tag: started.tag })));
}

/** Selects up to `maxKeys` keys, of the first projects. `isCutAt`: the first project with further keys. Keys are hashed to one length. */
async function selectContent(
  { engine }: DeletionDeps,
  { table, action, key, hasContent, isMarked = sql`0`, isDeleted }: Content,
  projects: readonly Project[],
  maxKeys: number,
): Promise<{ change: Change | undefined; isCutAt: Project | undefined }> {
  const hash = sql`hex(sipHash128(${key}))`;
  const ofProjects = param("Array(String)", projects);
  const found = await engine.rows<{ project_id: Project; own: string }>(
    sql`SELECT DISTINCT project_id, if(${isMarked}, '', ${hash}) AS own FROM ${trusted(table)}
        PREWHERE project_id IN ${ofProjects} AND (${isDeleted(ofProjects)}) WHERE ${hasContent}
        ORDER BY indexOf(${ofProjects}, project_id) LIMIT ${param("UInt32", maxKeys + 1)}`,
    { name: "deleted_calls_find", limits: "maintenance" },
  );
  const keys = found.slice(0, maxKeys).map(({ own }) => own);
  const rows = sql`(${hasContent}) AND (${isMarked} OR ${hash} IN ${param("Array(String)", keys)})`;
  return {
    change: keys.length === 0 ? undefined : { table, rows, ...(action === undefined ? {} : { action }) },
    isCutAt: found[maxKeys]?.project_id,
  };
}
