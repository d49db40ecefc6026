import type { Engine } from "../../store/engine.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import { sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import { FairSemaphore } from "../../fairness/fair-semaphore.ts";
import type { Project } from "../../shared/project.ts";
import { newDeletion, type Deletion, type DeletionStore } from "./deletion-store.ts";
import type { Change, Mutations } from "./mutations.ts";

export interface DeletionDeps {
  readonly engine: Engine;
  readonly deletions: DeletionStore;
  readonly mutations: Mutations;
  readonly clock: Clock;
  /** Runs work while no call event is being written. */
  readonly runExclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Maximum projects of a batch, which is one mutation per table and blocks inserts until these have started. */
const MAX_AT_ONCE = 100;
/** Waiting requests; further ones get 503. */
const MAX_PENDING = 1_000_000;

/**
 * Deletes projects in batches: requests that arrive during a batch join the next one. Resolves to the id of the deletion.
 */
export function createProjectDeleter(deps: DeletionDeps): (project: Project) => Promise<string> {
  const requests = createGroupCommit<Deletion>({
    name: "projects_delete",
    flush: (batch) => deleteProjects(deps, batch),
    sizeOf: () => 1,
    maxBatchBytes: MAX_AT_ONCE,
    lingerMs: 0,
    pending: new FairSemaphore({ capacity: MAX_PENDING }),
  });
  return async (project) => {
    const deletion = newDeletion(project, "project", deps.clock);
    await requests.write([deletion]);
    return deletion.id;
  };
}

/**
 * Deletes the stored rows of some projects from every table with projects. A mutation affects reads once it is accepted. No
 * call event is being written meanwhile; then the deletions are stored, which tells every service that what it has cached may
 * be gone. They run when every table shows its mutation, so a client with an id need not repeat the request, and later writes
 * to a project stay.
 */
async function deleteProjects(deps: DeletionDeps, batch: readonly Deletion[]): Promise<void> {
  const { engine, deletions, mutations } = deps;
  const projects = batch.map(({ project }) => project);
  const tables = await tablesOfProjects(engine);
  const started = await deps.runExclusive(async () => {
    const all = await mutations.start("deletion", projects, tables);
    await deletions.save(batch);
    return all;
  });
  await mutations.shown(started);
  await deletions.save(batch.map((deletion) => ({ ...deletion, step: "running", tag: started.tag })));
}

/** Tables with rows of projects, read from the store so that tables of later versions are included. Deletions stay. */
async function tablesOfProjects(engine: Engine): Promise<readonly Change[]> {
  return engine.rows<Change>(
    sql`SELECT table FROM system.columns
        WHERE database = currentDatabase() AND name = 'project_id' AND table != 'deletions' AND table IN
          (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
        ORDER BY table = 'calls', table`,
    { name: "tables_of_projects", tables: "local" },
  );
}
