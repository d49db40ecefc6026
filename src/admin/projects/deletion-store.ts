import { randomUUID } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import type { MutationNumbers } from "./mutations.ts";

const MAX_PROJECTS = 1000;
const MAX_AT_ONCE = 10_000;
/** SQL expression: entity of a row's project. */
export const ENTITY = sql`splitByChar('/', project_id)[1]`;
const STEPS = ["asked", "running", "done"] as const;

/** Deletion request and its progress. */
export interface Deletion {
  readonly id: string;
  readonly project: Project;
  readonly kind: "project" | "calls";
  readonly requestedAtMs: number;
  readonly step: (typeof STEPS)[number];
  /** Mutations that delete it; empty until they are started. */
  readonly mutations: MutationNumbers;
  readonly doneAtMs: number | null;
}

/** Deletions, kept for a year. */
export interface DeletionStore {
  save(deletions: readonly Deletion[]): Promise<void>;
  /** Finds a deletion. The caller must check that its project belongs to the key. */
  find(id: string): Promise<Deletion | undefined>;
  /** Reads deletions at a step, oldest first; if there are more than the page size, equally many of each entity and project. */
  at(step: Deletion["step"]): Promise<readonly Deletion[]>;
  /** Reads the projects with deletions of calls since then, or unfinished ones. */
  projectsOfCalls(sinceMs: number): Promise<readonly Project[]>;
}

export function newDeletion(project: Project, kind: Deletion["kind"], clock: Clock): Deletion {
  return {
    id: randomUUID(),
    project,
    kind,
    requestedAtMs: clock.now(),
    step: "asked",
    mutations: {},
    doneAtMs: null,
  };
}

export function createDeletionStore(engine: Engine): DeletionStore {
  const read = (from: Sql): Promise<Deletion[]> =>
    engine.rows<Deletion>(
      sql`SELECT id, project_id AS project, kind, requested_at_ms AS requestedAtMs, mutations, done_at_ms AS doneAtMs,
            ${param("Array(String)", STEPS)}[step + 1] AS step FROM ${from}`,
      { name: "deletions_read" },
    );
  return {
    save: (deletions) => engine.insert("deletions", deletions.map(toRow), { name: "deletions_save" }),
    find: async (id) => (await read(sql`deletions FINAL WHERE id = ${param("String", id)}`))[0],
    at: (step) =>
      read(sql`(SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY requested_at_ms, id) AS of_project
                FROM deletions FINAL WHERE step = ${param("UInt32", STEPS.indexOf(step))})
               ORDER BY row_number() OVER (PARTITION BY ${ENTITY} ORDER BY of_project, requested_at_ms, id), requested_at_ms, id
               LIMIT ${param("UInt32", MAX_AT_ONCE)}`),
    async projectsOfCalls(sinceMs) {
      const rows = await engine.rows<{ project_id: Project }>(
        sql`SELECT project_id FROM
              (SELECT project_id, min(step) AS first, rand() AS draw FROM deletions FINAL
               WHERE kind = 'calls' AND (step = 0 OR requested_at_ms >= ${param("Int64", sinceMs)}) GROUP BY project_id)
            ORDER BY row_number() OVER (PARTITION BY ${ENTITY} ORDER BY first, draw), first, draw
            LIMIT ${param("UInt32", MAX_PROJECTS)}`,
        { name: "deletions_projects" },
      );
      return rows.map((row) => row.project_id);
    },
  };
}

function toRow({ project, requestedAtMs, step, doneAtMs, ...same }: Deletion) {
  return {
    ...same,
    project_id: project,
    requested_at_ms: requestedAtMs,
    step: STEPS.indexOf(step),
    done_at_ms: doneAtMs,
  };
}
