import { randomUUID } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";

/** Invalidates every replica's cache of some projects. Call it once their rows are invisible. */
export async function bumpGenerations(engine: Engine, projects: readonly Project[]): Promise<void> {
  const rows = projects.map((project) => ({ project_id: project, generation: randomUUID() }));
  await engine.insert("project_generations", rows, { name: "project_generations_raise" });
}

/** Generation of a project at a read; differs if the project was deleted since. */
export interface ProjectGeneration {
  readonly project: Project;
  /** `undefined` if the project was never deleted. */
  readonly generation: string | undefined;
}

export async function readGeneration(engine: Engine, project: Project): Promise<ProjectGeneration> {
  return { project, generation: (await readGenerations(engine, [project])).get(project) };
}

/** Reads the generations of projects that were ever deleted. */
export async function readGenerations(
  engine: Engine,
  projects: readonly Project[],
): Promise<ReadonlyMap<Project, string>> {
  const rows = await engine.rows<{ project_id: Project; generation: string }>(
    sql`SELECT project_id, generation FROM project_generations FINAL
        WHERE project_id IN ${param("Array(String)", projects)}`,
    { name: "project_generations_read", limits: "ingest" },
  );
  return new Map(rows.map((row) => [row.project_id, row.generation]));
}
