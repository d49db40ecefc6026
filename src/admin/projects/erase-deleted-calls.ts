import { randomUUID } from "node:crypto";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { DeletionDeps } from "./delete-project.ts";

/** What a deleted call loses. It keeps its ids, its times and its deletion, so that late parts stay deleted too. */
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
] as const;

const TAG = "deleted calls";
const MAX_PENDING = 10_000;
/** A replicated mutation must fit into one node of Keeper. */
const MAX_KEYS = 1000;
/** Parts that arrive within this time after their call was deleted are erased as well. */
const LATE_MS = 7 * 86_400_000;

const assignments = join(
  ERASED_COLUMNS.map((name) => trusted(`${name} = NULL`)),
  ", ",
);
const holds = join(
  ERASED_COLUMNS.map((name) => trusted(`${name} IS NOT NULL`)),
  " OR ",
);
const callKey = sql`concat(project_id, '\n', toString(length(trace_id)), '\n', trace_id, id)`;
const deletedHours = (projects: Sql): Sql =>
  sql`(SELECT project_id, hour FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL)`;
/** The rows that the ledger has of traces under an hour. */
const settlementKey = sql`concat(project_id, '\n', toString(settlement))`;
const pendingKey = sql`concat(project_id, '\n', id)`;

interface Place {
  readonly table: string;
  /** The rows to change, by key; '' if the mutation finds them itself. */
  find(projects: Sql): Sql;
  change(projects: Sql, keys: Sql): Sql;
}

/** A row that is not merged with its tombstone does not say that it is deleted, so it is named by its key. */
const places: readonly Place[] = [
  {
    table: "calls",
    // what calls hold is read of traces with deleted calls alone
    find: (projects) => sql`SELECT DISTINCT if(deleted_at IS NULL, ${callKey}, '') AS key FROM calls
      PREWHERE project_id IN ${projects} AND (hour, trace_id) IN
        (SELECT hour, trace_id FROM trace_hours WHERE project_id IN ${projects} AND trace_id IN
          (SELECT trace_id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))
      WHERE (${holds}) AND (deleted_at IS NOT NULL OR (project_id, trace_id, id) IN
        (SELECT project_id, trace_id, id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))`,
    change: (projects, keys) => sql`UPDATE ${assignments}
      WHERE project_id IN ${projects} AND (${holds}) AND (deleted_at IS NOT NULL OR ${callKey} IN ${keys})`,
  },
  {
    table: "pending_parts",
    find: (projects) => sql`SELECT DISTINCT ${pendingKey} AS key FROM pending_parts
      WHERE project_id IN ${projects} AND kind != 'delete' AND columns != '{}' AND
        ((project_id, id) IN (SELECT project_id, id FROM pending_parts WHERE project_id IN ${projects} AND kind = 'delete')
         OR (project_id, id) IN (SELECT project_id, id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))`,
    change: (projects, keys) => sql`DELETE
      WHERE project_id IN ${projects} AND kind != 'delete' AND columns != '{}' AND ${pendingKey} IN ${keys}`,
  },
  {
    // what was settled after the deletion has nothing of the call. Rows of settlements that were replaced can be left over
    table: "usage_ledger",
    find: (projects) => sql`SELECT DISTINCT ${settlementKey} AS key FROM usage_ledger
      WHERE project_id IN ${projects} AND (project_id, hour) IN ${deletedHours(projects)} AND (project_id, settlement) NOT IN
        (SELECT project_id, settlement FROM usage_ledger
         WHERE project_id IN ${projects} AND is_entry = 0 AND (project_id, hour, head.hour_fingerprint) IN
          (SELECT project_id, hour, sum(calls.fingerprint) FROM calls
           WHERE project_id IN ${projects} AND (project_id, hour) IN ${deletedHours(projects)} GROUP BY project_id, hour))`,
    change: (projects, keys) => sql`DELETE WHERE project_id IN ${projects} AND ${settlementKey} IN ${keys}`,
  },
];

/**
 * Empties deleted calls: one mutation per table at a time, for all requests together. Deletions that
 * were requested before are running once everything that their calls have stored is covered.
 */
export async function eraseDeletedCalls(deps: DeletionDeps): Promise<void> {
  const { deletions, mutations, clock } = deps;
  const asked = await deletions.at("asked", MAX_PENDING);
  const projects = await deletions.projectsOfCalls(clock.now() - LATE_MS);
  if (projects.length === 0 || (await mutations.areRunning(TAG))) return;

  const tag = `${TAG} ${randomUUID()}`;
  const started: string[] = [];
  let isWhole = true;
  for (const place of places) {
    const keys = await findKeys(deps, place, projects);
    isWhole &&= keys.length <= MAX_KEYS;
    if (keys.length === 0) continue;
    const change = place.change(
      sql`${param("Array(String)", projects)}`,
      sql`${param("Array(String)", keys.slice(0, MAX_KEYS))}`,
    );
    started.push(
      ...(await mutations.start(place.table, projects, sql`${change} AND ${mutations.mark(tag)}`)),
    );
  }
  if (!isWhole) return;
  const numbers = { ...(await mutations.numbers(TAG, [])), ...(await mutations.numbers(tag, started)) };
  const covered = new Set(projects);
  await deletions.save(
    asked
      .filter((deletion) => covered.has(deletion.project))
      .map((deletion) => ({ ...deletion, step: "running", mutations: numbers })),
  );
}

async function findKeys(
  { engine }: DeletionDeps,
  place: Place,
  projects: readonly Project[],
): Promise<readonly string[]> {
  const rows = await engine.rows<{ key: string }>(
    sql`${place.find(sql`${param("Array(String)", projects)}`)} LIMIT ${param("UInt32", MAX_KEYS + 1)}`,
    { name: "deleted_calls_find", limits: "maintenance", mustBeCurrent: true },
  );
  return rows.map((row) => row.key);
}
