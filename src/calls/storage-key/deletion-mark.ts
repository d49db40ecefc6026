import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";

/** Reads a text that differs once a project, or this one, was deleted. What was read before may be gone then. */
export async function readDeletionMark(engine: Engine, project?: Project): Promise<string> {
  const ofProject = project === undefined ? sql`` : sql` AND project_id = ${param("String", project)}`;
  const [row] = await engine.rows<{ mark: string }>(
    sql`SELECT toString(sum(DISTINCT cityHash64(id))) AS mark FROM deletions PREWHERE kind = 'project'${ofProject}`,
    { name: "deletion_mark", limits: "ingest" },
  );
  return row!.mark;
}
