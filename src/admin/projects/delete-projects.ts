import { randomUUID } from "node:crypto";
import { bumpGenerations } from "../../calls/storage-key/project-generations.ts";
import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import { FairQueue } from "../../fairness/fair-queue.ts";
import { runAsTenant, SYSTEM_TENANT } from "../../fairness/tenant.ts";
import type { Project } from "../../shared/project.ts";
import { newDeletion, type Deletion, type DeletionStore } from "./deletion-store.ts";
import type { Mutations } from "./mutations.ts";

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

/** Deletes projects in batches: requests that arrive during a batch join the next one, fairly by entity. */
export function createProjectDeleter(deps: DeletionDeps): (project: Project) => Promise<Deletion> {
  const queue = new FairQueue<PromiseWithResolvers<Deletion> & { readonly project: Project }>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    while (queue.size > 0) {
      const batch = Array.from(
        { length: Math.min(queue.size, MAX_AT_ONCE) },
        () => queue.take(() => true)!.value,
      );
      try {
        const deletions = await deleteProjects(
          deps,
          batch.map(({ project }) => project),
        );
        for (const [at, { resolve }] of batch.entries()) resolve(deletions[at]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  };

  return (project) => {
    const requested = { project, ...Promise.withResolvers<Deletion>() };
    queue.push({ tenant: { project, key: "" }, cost: 1, value: requested });
    if (!isRunning) {
      isRunning = true;
      void runAsTenant(SYSTEM_TENANT, run);
    }
    return requested.promise;
  };
}

/**
 * Deletes the stored rows of some projects from every table with projects. A mutation affects reads once it is accepted. No
 * call event is being written meanwhile. The deletions are stored when every table has its mutation, so a client with an id
 * need not repeat the request, and later writes to a project stay.
 */
async function deleteProjects(
  deps: DeletionDeps,
  projects: readonly Project[],
): Promise<readonly Deletion[]> {
  const { deletions, mutations } = deps;
  const tag = `deletion ${randomUUID()}`;
  const tables = await tablesOfProjects(deps.engine);
  const started: string[] = [];
  const change = sql`DELETE WHERE project_id IN ${param("Array(String)", projects)}`;
  await deps.runExclusive(async () => {
    for (const table of tables) started.push(...(await mutations.start({ table, projects, tag }, change)));
    await bumpGenerations(deps.engine, projects);
  });
  const numbers = await mutations.numbers(tag, started);
  const running = projects.map((project): Deletion => ({
    ...newDeletion(project, "project", deps.clock),
    step: "running",
    mutations: numbers,
  }));
  await deletions.save(running);
  return running;
}

/** Tables with rows of projects, read from the store so that tables of later versions are included. Deletions and project generations stay. */
async function tablesOfProjects(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.rows<{ table: string }>(
    sql`SELECT table FROM system.columns
        WHERE database = currentDatabase() AND name = 'project_id' AND table NOT IN ('deletions', 'project_generations') AND table IN
          (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
        ORDER BY table = 'calls', table`,
    { name: "tables_of_projects", tables: "local" },
  );
  return rows.map((row) => row.table);
}
