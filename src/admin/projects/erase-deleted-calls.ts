import { randomBytes, randomUUID } from "node:crypto";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import { findErasable } from "./find-erasable.ts";

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
] as const;

const TAG = "deleted calls";
/** Limit of a mutation, which must fit into one ClickHouse Keeper node of a megabyte. */
const MAX_KEYS = 20_000;
/** Time after a deletion in which late events of the call are erased too. */
const LATE_MS = 7 * 86_400_000;

const assignments = trusted(ERASED_COLUMNS.map((name) => `${name} = NULL`).join());
const holds = trusted(ERASED_COLUMNS.map((name) => `${name} IS NOT NULL`).join(" OR "));
const callKey = sql`project_id, trace_id, id`;
const deletedHours = (projects: Sql): Sql =>
  sql`(SELECT project_id, hour FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL)`;
/** Rows of the usage rollup, by batch. */
const batchKey = sql`project_id, batch_id`;
const pendingKey = sql`project_id, id`;

/** Hashes keys to one length, with a new seed each time, so that clients cannot construct collisions. */
type HashKey = (columns: Sql) => Sql;

function newHash(): HashKey {
  const [first, second] = [randomBytes(8), randomBytes(8)].map((bytes) =>
    param("UInt64", bytes.readBigUInt64LE().toString()),
  );
  return (columns) => sql`hex(sipHash128Keyed((${first!}, ${second!}), ${columns}))`;
}

interface Place {
  readonly table: string;
  /** Rows to change, by project and key; the key is '' if the mutation selects them itself. */
  readonly find: (projects: Sql, hash: HashKey) => Sql;
  readonly change: (projects: Sql, keys: Sql, hash: HashKey) => Sql;
}

/** Rows not yet merged with their tombstone are not marked as deleted, so they are selected by key. */
const places: readonly Place[] = [
  {
    table: "calls",
    // read only traces with deleted calls
    find: (
      projects,
      hash,
    ) => sql`SELECT project_id, if(deleted_at IS NULL, ${hash(callKey)}, '') AS key FROM calls
      PREWHERE project_id IN ${projects} AND (hour, trace_id) IN
        (SELECT hour, trace_id FROM trace_hours WHERE project_id IN ${projects} AND trace_id IN
          (SELECT trace_id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))
      WHERE (${holds}) AND (deleted_at IS NOT NULL OR (project_id, trace_id, id) IN
        (SELECT project_id, trace_id, id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))`,
    change: (projects, keys, hash) => sql`UPDATE ${assignments}
      WHERE project_id IN ${projects} AND (${holds}) AND (deleted_at IS NOT NULL OR ${hash(callKey)} IN ${keys})`,
  },
  {
    table: "pending_call_events",
    find: (projects, hash) => sql`SELECT project_id, ${hash(pendingKey)} AS key FROM pending_call_events
      WHERE project_id IN ${projects} AND kind != 'delete' AND columns != '{}' AND
        ((project_id, id) IN (SELECT project_id, id FROM pending_call_events WHERE project_id IN ${projects} AND kind = 'delete')
         OR (project_id, id) IN (SELECT project_id, id FROM calls WHERE project_id IN ${projects} AND deleted_at IS NOT NULL))`,
    change: (projects, keys, hash) => sql`DELETE
      WHERE project_id IN ${projects} AND kind != 'delete' AND columns != '{}' AND ${hash(pendingKey)} IN ${keys}`,
  },
  {
    // batches materialized after the deletion do not contain the call; rows of replaced batches may remain
    table: "usage_rollup",
    find: (projects, hash) => sql`SELECT project_id, ${hash(batchKey)} AS key FROM usage_rollup
      WHERE project_id IN ${projects} AND (project_id, hour) IN ${deletedHours(projects)} AND (project_id, batch_id) NOT IN
        (SELECT project_id, batch_id FROM usage_rollup
         WHERE project_id IN ${projects} AND is_record = 0 AND (project_id, hour, manifest.hour_fingerprint) IN
          (SELECT project_id, hour, sum(calls.fingerprint) FROM calls
           WHERE project_id IN ${projects} AND (project_id, hour) IN ${deletedHours(projects)} GROUP BY project_id, hour))`,
    change: (projects, keys, hash) =>
      sql`DELETE WHERE project_id IN ${projects} AND ${hash(batchKey)} IN ${keys}`,
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
  if (projects.length === 0 || (await mutations.areRunning(TAG))) return;

  const tag = `${TAG} ${randomUUID()}`;
  const started: string[] = [];
  const covered = new Set(projects);
  const ofProjects = sql`${param("Array(String)", projects)}`;
  for (const { table, find, change } of places) {
    const hash = newHash();
    const { keys, cut } = await findErasable(deps.engine, find(ofProjects, hash), maxKeys);
    for (const project of cut) covered.delete(project);
    if (keys.length === 0) continue;
    const erase = change(ofProjects, sql`${param("Array(String)", keys)}`, hash);
    started.push(...(await mutations.start({ table, projects, tag }, erase)));
  }
  const running = requested.filter(({ project }) => covered.has(project));
  if (running.length === 0) return;
  const numbers = { ...(await mutations.numbers(TAG, [])), ...(await mutations.numbers(tag, started)) };
  await deletions.save(running.map((deletion) => ({ ...deletion, step: "running", mutations: numbers })));
}
