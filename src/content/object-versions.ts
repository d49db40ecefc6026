import type { Engine } from "../store/engine.ts";
import { join, param, sql, type Sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";

/** A version of an object, without its value. */
export interface ObjectVersion {
  readonly object_id: string;
  readonly digest: string;
  readonly kind: "object" | "op";
  /** '' for none. */
  readonly base_object_class: string;
  readonly created_at: string;
  readonly version_index: number;
  readonly version_count: number;
}

/** Filter of versions; a member that is `undefined` matches all. */
export interface VersionFilter {
  readonly objectIds?: readonly string[] | undefined;
  readonly kind?: ObjectVersion["kind"] | undefined;
  readonly baseClasses?: readonly string[] | undefined;
  readonly baseClassesNot?: readonly string[] | undefined;
  /** Classes by the value's `_class_name`. */
  readonly leafClasses?: readonly string[] | undefined;
  readonly latestOnly?: boolean | undefined;
}

export interface VersionOrder {
  readonly field: "object_id" | "created_at";
  readonly direction: "asc" | "desc";
}

export interface VersionPage {
  readonly order: readonly VersionOrder[];
  readonly limit: number;
  readonly offset: number;
}

/** Finds a version by its digest or by an alias `v0`, `v1`, … or `latest`; `undefined` if there is none. */
export async function findVersion(
  engine: Engine,
  project: Project,
  { objectId, version }: VersionName,
): Promise<ObjectVersion | undefined> {
  const [found] = await engine.rows<ObjectVersion>(
    sql`SELECT * FROM (${versionsOf(project, [objectId])}) WHERE ${isVersion(version)}`,
    { name: "object_version" },
  );
  return found;
}

/** True for the aliases `v0`, `v1`, … and `latest`, which are not digests. */
export function isAlias(version: string): boolean {
  return /^(latest|v\d{1,9})$/.test(version);
}

export interface VersionName {
  readonly objectId: string;
  readonly version: string;
}

/** Resolves aliases to digests, by `pairKey` of object and alias. Omits versions that do not exist. */
export async function findVersions(
  engine: Engine,
  project: Project,
  names: readonly VersionName[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(names.map(({ objectId }) => objectId))];
  const latest = names.filter(({ version }) => version === "latest").map(({ objectId }) => objectId);
  const numbered = names.filter(({ version }) => version !== "latest");
  const numberedIds = param(
    "Array(String)",
    numbered.map(({ objectId }) => objectId),
  );
  const indexes = param(
    "Array(String)",
    numbered.map((name) => String(indexOf(name))),
  );
  const found = await engine.rows<ObjectVersion>(
    sql`SELECT * FROM (${versionsOf(project, ids)})
        WHERE (${IS_LATEST} AND object_id IN ${param("Array(String)", latest)})
          OR (object_id, toString(version_index)) IN
            (SELECT name.1, name.2 FROM (SELECT arrayJoin(arrayZip(${numberedIds}, ${indexes})) AS name))`,
    { name: "object_versions" },
  );
  const known = new Map(found.flatMap(entriesOf));
  return new Map(
    names.flatMap((name) => {
      const alias = name.version === "latest" ? "latest" : String(indexOf(name));
      const digest = known.get(pairKey(name.objectId, alias));
      return digest === undefined ? [] : [[pairKey(name.objectId, name.version), digest]];
    }),
  );
}

function indexOf({ version }: VersionName): number {
  return Number(version.slice(1));
}

/** Returns the digest of a version by its number, and the newest also by `latest`. */
function entriesOf({ object_id, digest, version_index, version_count }: ObjectVersion) {
  const entry = (alias: string) => [pairKey(object_id, alias), digest] as const;
  const isLatest = version_index + 1 === version_count;
  return isLatest ? [entry(String(version_index)), entry("latest")] : [entry(String(version_index))];
}

/** Lists versions without values, by default ordered by object, then by the time when first stored. */
export async function listVersions(
  engine: Engine,
  project: Project,
  {
    filter,
    page,
    signal,
  }: { readonly filter: VersionFilter; readonly page: VersionPage; signal: AbortSignal },
): Promise<readonly ObjectVersion[]> {
  const order = [...page.order.map(orderSql), sql`object_id`, sql`created_at`, sql`digest`];
  return engine.rows<ObjectVersion>(
    sql`SELECT * FROM (${versionsOf(project, filter.objectIds)}) WHERE ${matches(project, filter)}
        ORDER BY ${join(order, ", ")}
        LIMIT ${param("UInt64", page.limit)} OFFSET ${param("UInt64", page.offset)}`,
    { name: "object_list", signal },
  );
}

function versionsOf(project: Project, objectIds: readonly string[] | undefined): Sql {
  const some = objectIds === undefined ? sql`` : sql` AND object_id IN ${param("Array(String)", objectIds)}`;
  return sql`SELECT object_id, digest, kind, base_object_class, created_at,
      toUInt32(row_number() OVER (PARTITION BY object_id ORDER BY created_at, digest)) - 1 AS version_index,
      toUInt32(count() OVER (PARTITION BY object_id)) AS version_count
    FROM objects FINAL PREWHERE project_id = ${param("String", project)}${some}`;
}

const IS_LATEST = sql`version_index + 1 = version_count`;

function isVersion(version: string): Sql {
  if (version === "latest") return IS_LATEST;
  const index = /^v(\d{1,9})$/.exec(version)?.[1];
  return index === undefined
    ? sql`digest = ${param("String", version)}`
    : sql`version_index = ${param("UInt32", Number(index))}`;
}

function matches(project: Project, filter: VersionFilter): Sql {
  const names = (some: readonly string[]): Sql => sql`${param("Array(String)", some)}`;
  const { kind, baseClasses, baseClassesNot, leafClasses, latestOnly } = filter;
  const conditions = [
    ...(kind === undefined ? [] : [sql`kind = ${param("String", kind)}`]),
    ...(baseClasses === undefined ? [] : [sql`base_object_class IN ${names(baseClasses)}`]),
    ...(baseClassesNot === undefined ? [] : [sql`base_object_class NOT IN ${names(baseClassesNot)}`]),
    ...(latestOnly === true ? [IS_LATEST] : []),
    ...(leafClasses === undefined
      ? []
      : [
          sql`(object_id, digest) IN (SELECT object_id, digest FROM objects FINAL
            PREWHERE project_id = ${param("String", project)}
            WHERE JSONExtractString(val, '_class_name') IN ${names(leafClasses)})`,
        ]),
  ];
  return conditions.length === 0 ? sql`1` : join(conditions, " AND ");
}

function orderSql({ field, direction }: VersionOrder): Sql {
  const column = field === "object_id" ? sql`object_id` : sql`created_at`;
  return direction === "desc" ? sql`${column} DESC` : column;
}
