import { randomUUID } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";

const MAX_PROJECTS = 1000;
const MAX_AT_ONCE = 10_000;
const STEPS = ["asked", "running", "done"] as const;

/** Deletion request and its progress. */
export interface Deletion {
  readonly id: string;
  readonly project: Project;
  readonly kind: "project" | "calls";
  readonly requestedAtMs: number;
  readonly step: (typeof STEPS)[number];
  /** Tag of the mutations that delete it; empty until they are started. */
  readonly tag: string;
  readonly doneAtMs: number | null;
}

/** Deletions, kept for a year. */
export interface DeletionStore {
  save(deletions: readonly Deletion[]): Promise<void>;
  /** Finds a deletion. The caller must check that its project belongs to the key. */
  find(id: string): Promise<Deletion | undefined>;
  /** Reads the oldest deletions at a step. */
  at(step: Deletion["step"]): Promise<readonly Deletion[]>;
  /** Reads the projects with deletions of calls since then, or requested ones, these first. */
  projectsOfCalls(sinceMs: number): Promise<readonly Project[]>;
}

export function newDeletion(project: Project, kind: Deletion["kind"], clock: Clock): Deletion {
  return {
    id: randomUUID(),
    project,
    kind,
    requestedAtMs: clock.now(),
    step: "asked",
    tag: "",
    doneAtMs: null,
  };
}

export function createDeletionStore(engine: Engine): DeletionStore {
  const read = async (which: Sql): Promise<Deletion[]> => {
    const rows = await engine.rows<Omit<Deletion, "step"> & { step: number }>(
      sql`SELECT id, project_id AS project, kind, requested_at_ms AS requestedAtMs, tag, done_at_ms AS doneAtMs, step
          FROM deletions FINAL WHERE ${which}`,
      { name: "deletions_read" },
    );
    return rows.map((row) => ({ ...row, step: STEPS[row.step]! }));
  };
  return {
    save: (deletions) => engine.insert("deletions", deletions.map(toRow), { name: "deletions_save" }),
    find: async (id) => (await read(sql`id = ${param("String", id)}`))[0],
    at: (step) =>
      read(sql`step = ${param("UInt32", STEPS.indexOf(step))}
               ORDER BY requested_at_ms, id LIMIT ${param("UInt32", MAX_AT_ONCE)}`),
    async projectsOfCalls(sinceMs) {
      const rows = await engine.rows<{ project_id: Project }>(
        sql`SELECT project_id FROM deletions FINAL
            WHERE kind = 'calls' AND (step = 0 OR requested_at_ms >= ${param("Int64", sinceMs)})
            GROUP BY project_id ORDER BY min(step), min(requested_at_ms), project_id LIMIT ${param("UInt32", MAX_PROJECTS)}`,
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
