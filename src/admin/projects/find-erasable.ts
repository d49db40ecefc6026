import { param, sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import { equalShare } from "./equal-share.ts";

export interface ErasableKeys {
  readonly keys: readonly string[];
  /** The projects that have more than these. */
  readonly cut: readonly Project[];
}

interface Limits {
  readonly projects: readonly Project[];
  readonly maxKeys: number;
}

/**
 * The keys of the rows that `find` selects of some projects, with the project of each. Of more than `maxKeys`, every project
 * gets an equal share and what others leave of theirs.
 */
export async function findErasable(
  engine: Engine,
  find: (projects: Sql) => Sql,
  { projects, maxKeys }: Limits,
): Promise<ErasableKeys> {
  const rows = find(sql`${param("Array(String)", projects)}`);
  const read = <Row>(query: Sql): Promise<readonly Row[]> =>
    engine.rows<Row>(query, { name: "deleted_calls_find", limits: "maintenance", mustBeCurrent: true });
  const readKeys = (limit: Sql): Promise<readonly { project_id: Project; key: string }[]> =>
    read(sql`SELECT DISTINCT project_id, key FROM (${rows}) ${limit}`);

  const all = await readKeys(sql`LIMIT ${param("UInt32", maxKeys + 1)}`);
  if (all.length <= maxKeys) return { keys: all.map(({ key }) => key), cut: [] };

  const counts = await read<{ n: number }>(sql`SELECT uniq(key) AS n FROM (${rows}) GROUP BY project_id`);
  const share = equalShare(
    maxKeys,
    counts.map(({ n }) => n),
  );
  const limit = maxKeys + projects.length;
  const shares = await readKeys(
    sql`LIMIT ${param("UInt32", share + 1)} BY project_id LIMIT ${param("UInt32", limit + 1)}`,
  );
  const keys = Map.groupBy(shares, (row) => row.project_id);
  return {
    keys: [...keys.values()].flatMap((own) => own.slice(0, share)).map(({ key }) => key),
    // more than the limit: what came meanwhile
    cut:
      shares.length > limit
        ? projects
        : projects.filter((project) => (keys.get(project)?.length ?? 0) > share),
  };
}
