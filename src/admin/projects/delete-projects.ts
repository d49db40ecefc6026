import { randomUUID } from "node:crypto";
import { raiseFences } from "../../calls/place/project-fences.ts";
import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { newDeletion, type Deletion, type DeletionStore } from "./deletion-store.ts";
import type { Mutations } from "./mutations.ts";

export interface DeletionDeps {
  readonly engine: Engine;
  readonly deletions: DeletionStore;
  readonly mutations: Mutations;
  readonly clock: Clock;
  /** Does some work while no part of a call is on its way into the store. */
  readonly whileNoInsertRuns: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Deletes all rows of some projects that are stored when this is called, from every table that knows projects. A mutation
 * affects reads from the moment it is accepted. No writer is between reading what waits and storing it meanwhile. The
 * deletions are stored when every table has its mutation: a client that gets an id need not send it again, and what is
 * written to a project afterwards stays.
 */
export async function deleteProjects(
  deps: DeletionDeps,
  projects: readonly Project[],
): Promise<readonly Deletion[]> {
  const { deletions, mutations } = deps;
  const tag = `deletion ${randomUUID()}`;
  const tables = await tablesOfProjects(deps.engine);
  const started: string[] = [];
  const named = param("Array(String)", projects);
  const change = sql`DELETE WHERE project_id IN ${named} AND ${mutations.mark(tag)}`;
  await deps.whileNoInsertRuns(async () => {
    for (const table of tables) started.push(...(await mutations.start(table, projects, change)));
    await raiseFences(deps.engine, projects);
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

/** Read from the store, so that a table of a later version is not forgotten. Deletions and fences stay. */
async function tablesOfProjects(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.rows<{ table: string }>(
    sql`SELECT table FROM system.columns
        WHERE database = currentDatabase() AND name = 'project_id' AND table NOT IN ('deletions', 'project_fences') AND table IN
          (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
        ORDER BY table = 'calls', table`,
    { name: "tables_of_projects", tables: "own" },
  );
  return rows.map((row) => row.table);
}
