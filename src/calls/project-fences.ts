import { randomUUID } from "node:crypto";
import type { Engine } from "../clickhouse/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Makes every replica forget what it remembers of a project. Call it when the project's rows can be seen no more. */
export async function raiseFence(engine: Engine, project: Project): Promise<void> {
  await engine.insert("project_fences", [{ project_id: project, fence: randomUUID() }], {
    name: "project_fences_raise",
  });
}

/** What a project was when it was read: it is another one when it has been deleted since. */
export interface Fence {
  readonly project: Project;
  /** Undefined: never deleted. */
  readonly fence: string | undefined;
}

export async function readFence(engine: Engine, project: Project): Promise<Fence> {
  return { project, fence: (await readFences(engine, [project])).get(project) };
}

/** The fences of those projects that have one. */
export async function readFences(
  engine: Engine,
  projects: readonly Project[],
): Promise<ReadonlyMap<Project, string>> {
  const rows = await engine.rows<{ project_id: Project; fence: string }>(
    sql`SELECT project_id, fence FROM project_fences FINAL
        WHERE project_id IN ${param("Array(String)", projects)}`,
    { name: "project_fences_read", limits: "ingest" },
  );
  return new Map(rows.map((row) => [row.project_id, row.fence]));
}
