import { join, param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Engine, QueryOptions } from "../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../store/group-commit.ts";
import { GIVEN_UP_MS, UPLOAD_LOST_MS, versions, type Job, type JobKind, type JobStatus } from "./job.ts";

export type JobKey = Pick<Job, "project_id" | "id">;
export type FollowedJob = JobKey & Pick<Job, "checked_at_ms" | "checked_by">;

/** A job as it is at the time of a read: nobody may be left to say that its upload has ended. */
export type ShownJob = Job & { readonly shown_status: JobStatus };

export interface JobQuery {
  readonly kind?: JobKind | undefined;
  readonly status?: JobStatus | undefined;
  readonly base_model?: string | undefined;
  /** Last job of the page before. */
  readonly after?: readonly [createdAtUs: number, id: string] | undefined;
  readonly limit: number;
}

/** Errors: `StorageError`. */
export interface JobStore {
  /** Resolves when the rows are durable, all or none. */
  write(rows: readonly Job[]): Promise<void>;
  /** Writes next versions of those that nobody has deleted meanwhile. */
  replace(jobs: readonly Job[]): Promise<void>;
  /** Jobs that have not ended, the longest unread first. */
  followed(nowMs: number): Promise<readonly FollowedJob[]>;
  find(keys: readonly JobKey[]): Promise<readonly Job[]>;
  /** Returns the highest step of checkpoints of the model's earlier jobs; 0 if there are none. */
  stepBefore(job: Job): Promise<number>;
  /** Lists jobs, newest first. */
  list(project: Project, query: JobQuery, nowMs: number): Promise<readonly ShownJob[]>;
  drain(): Promise<void>;
}

const TABLE = "training_jobs";
const MAX_FOLLOWED = 1000;
/** The time in statements changes so seldom that their results can be cached. */
const HOUR_MS = 3_600_000;
const FOLLOWED = sql`status IN ('pending', 'running') AND removed = 0`;

export function createJobStore(engine: Engine, settings: GroupCommitSettings): JobStore {
  const commit = createGroupCommit<Job>({
    ...settings,
    name: "training_jobs_write",
    flush: (rows) => engine.insert(TABLE, rows, { name: "training_jobs_write" }),
    sizeOf: ({ request, checkpoints, metrics }) =>
      1024 + request.length + checkpoints.length + metrics.length,
    maxBatchBytes: 4 * 1024 * 1024,
    // few write at once
    lingerMs: 0,
  });
  const rows = <Row>(query: Sql, name: string, others: Partial<QueryOptions> = {}): Promise<Row[]> =>
    engine.rows<Row>(query, { name, limits: "ingest", ...others });
  const find = async (keys: readonly JobKey[]): Promise<readonly Job[]> =>
    keys.length === 0
      ? []
      : rows<Job>(
          sql`SELECT * FROM training_jobs FINAL WHERE (project_id, id) IN (${keyList(keys)}) AND ${FOLLOWED}`,
          "training_jobs_find",
        );
  return {
    write: (written) => commit.write(written),
    async replace(jobs) {
      const left = new Set((await find(jobs)).map(keyOf));
      await commit.write(jobs.filter((job) => left.has(keyOf(job))));
    },
    followed(nowMs) {
      const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
      return rows<FollowedJob>(
        sql`SELECT project_id, id, checked_at_ms, checked_by FROM training_jobs FINAL
            WHERE ${FOLLOWED} AND created_at_us > ${param("Int64", (hour - GIVEN_UP_MS) * 1000)}
            ORDER BY checked_at_ms LIMIT ${param("UInt32", MAX_FOLLOWED)}`,
        "training_jobs_followed",
        { dependsOn: [TABLE] },
      );
    },
    find,
    async stepBefore({ project_id: project, id, model_id: model, created_at_us: createdAtUs }) {
      const [row] = await rows<{ step: number }>(
        sql`SELECT max(arrayMax(one -> JSONExtractInt(one, 'step'), JSONExtractArrayRaw(checkpoints))) AS step
            FROM training_jobs FINAL WHERE project_id = ${param("String", project)} AND removed = 0 AND checkpoints != '[]'
              AND model_id = ${param("Nullable(String)", model)} AND id != ${param("String", id)}
              AND created_at_us <= ${param("Int64", createdAtUs)}`,
        "training_jobs_step",
      );
      return row?.step ?? 0;
    },
    list: (project, query, nowMs) =>
      rows<ShownJob>(listStatement(project, query, nowMs), "training_jobs_list"),
    drain: () => commit.drain(),
  };
}

/** The next version of a job that somebody has read. */
export function checked(job: Job, atMs: number, by: string): Job {
  const version = Math.max(job.version, versions.changed(atMs, job.version));
  return { ...job, checked_at_ms: atMs, checked_by: by, version };
}

function listStatement(project: Project, query: JobQuery, nowMs: number): Sql {
  const { kind, status, base_model: baseModel, after, limit } = query;
  const conditions = [sql`removed = 0`, sql`project_id = ${param("String", project)}`];
  if (kind !== undefined) conditions.push(sql`kind = ${param("String", kind)}`);
  if (status !== undefined) conditions.push(sql`shown_status = ${param("String", status)}`);
  if (baseModel !== undefined) conditions.push(sql`base_model = ${param("String", baseModel)}`);
  if (after !== undefined) {
    const at = param("Int64", after[0]);
    conditions.push(
      sql`(created_at_us < ${at} OR (created_at_us = ${at} AND id > ${param("String", after[1])}))`,
    );
  }
  const lostMs = param("Int64", nowMs - UPLOAD_LOST_MS);
  const givenUpUs = param("Int64", (nowMs - GIVEN_UP_MS) * 1000);
  return sql`SELECT *, multiIf(status = 'uploading' AND checked_at_ms < ${lostMs}, if(is_sent = 1, 'unknown', 'failed'),
        status IN ('pending', 'running') AND created_at_us < ${givenUpUs}, 'unknown', status) AS shown_status
      FROM training_jobs FINAL WHERE ${join(conditions, " AND ")}
      ORDER BY created_at_us DESC, id LIMIT ${param("UInt32", limit)}`;
}

function keyOf({ project_id: project, id }: JobKey): string {
  return JSON.stringify([project, id]);
}

/** SQL: the keys, as pairs. */
function keyList(keys: readonly JobKey[]): Sql {
  const pairs = keys.map(
    ({ project_id: project, id }) => sql`(${param("String", project)}, ${param("String", id)})`,
  );
  return join(pairs, ", ");
}
