import { param, sql, type Sql } from "../../query/sql.ts";
import { ENTITY } from "./deletion-store.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";

export interface ErasableKeys {
  readonly keys: readonly string[];
  /** Projects with further keys. */
  readonly cut: readonly Project[];
}

/** Finds up to `maxKeys` keys of `rows`, divided fairly: in turn among entities, and within each among its projects. */
export async function findErasable(engine: Engine, rows: Sql, maxKeys: number): Promise<ErasableKeys> {
  const max = param("UInt32", maxKeys);
  const oneMore = param("UInt32", maxKeys + 1);
  const found = await engine.rows<{ project_id: Project; own: readonly string[]; isCut: 0 | 1 }>(
    sql`SELECT project_id, groupArrayIf(key, turn <= ${max}) AS own, count() > length(own) AS isCut FROM
          (SELECT project_id, key, row_number() OVER (ORDER BY of_entity, project_id) AS turn FROM
            (SELECT project_id, key, row_number() OVER (PARTITION BY ${ENTITY} ORDER BY of_project, project_id) AS of_entity FROM
              (SELECT project_id, key, row_number() OVER (PARTITION BY project_id) AS of_project
               FROM (SELECT DISTINCT project_id, key FROM (${rows}) LIMIT ${oneMore} BY project_id))))
        GROUP BY project_id`,
    { name: "deleted_calls_find", limits: "maintenance", requireCurrent: true },
  );
  return {
    keys: found.flatMap(({ own }) => own),
    cut: found.filter(({ isCut }) => isCut === 1).map(({ project_id }) => project_id),
  };
}
