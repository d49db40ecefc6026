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
 * The keys of the rows that `find` selects of some projects, with the project of each. Of more than `maxKeys`, every entity
 * gets an equal share and what others leave of theirs, and of an entity likewise every project.
 */
export async function findErasable(
  engine: Engine,
  find: (projects: Sql) => Sql,
  { projects, maxKeys }: Limits,
): Promise<ErasableKeys> {
  const rows = find(sql`${param("Array(String)", projects)}`);
  const read = <Row>(query: Sql): Promise<readonly Row[]> =>
    engine.rows<Row>(query, { name: "deleted_calls_find", limits: "maintenance", mustBeCurrent: true });
  const all = await read<KeyRow>(
    sql`SELECT DISTINCT project_id, key FROM (${rows}) LIMIT ${param("UInt32", maxKeys + 1)}`,
  );
  if (all.length <= maxKeys) return { keys: all.map(({ key }) => key), cut: [] };

  const counts = await read<Count>(
    sql`SELECT project_id, uniq(key) AS n FROM (${rows}) GROUP BY project_id ORDER BY project_id`,
  );
  const shares = sharesOf(counts, maxKeys);
  // one more than a share shows that there are more, and one of a project that had none that it has some now
  const most = sql`transform(project_id, ${param("Array(String)", [...shares.keys()])},
    ${param(
      "Array(UInt64)",
      [...shares.values()].map((share) => share + 1),
    )}, toUInt64(1))`;
  const found = await read<KeyRow>(
    sql`SELECT project_id, key FROM
          (SELECT project_id, key, row_number() OVER (PARTITION BY project_id) AS place
           FROM (SELECT DISTINCT project_id, key FROM (${rows})))
        WHERE place <= ${most}`,
  );
  const keys = Map.groupBy(found, (row) => row.project_id);
  const shareOf = (project: Project): number => shares.get(project) ?? 0;
  return {
    keys: [...keys].flatMap(([project, own]) => own.slice(0, shareOf(project))).map(({ key }) => key),
    cut: projects.filter((project) => (keys.get(project)?.length ?? 0) > shareOf(project)),
  };
}

interface KeyRow {
  readonly project_id: Project;
  readonly key: string;
}
interface Count {
  readonly project_id: Project;
  readonly n: number;
}

function sharesOf(counts: readonly Count[], maxKeys: number): ReadonlyMap<Project, number> {
  const entities = [...Map.groupBy(counts, ({ project_id }) => project_id.split("/", 1)[0]!).values()];
  const wanted = entities.map((ofEntity) => ofEntity.reduce((sum, { n }) => sum + n, 0));
  const most = equalShare(maxKeys, wanted);
  return new Map(
    entities.flatMap((ofEntity, at) => {
      const ns = ofEntity.map(({ n }) => n);
      const share = equalShare(Math.min(most, wanted[at]!), ns);
      return ofEntity.map(({ project_id, n }) => [project_id, Math.min(share, n)] as const);
    }),
  );
}
