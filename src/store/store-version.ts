import { sql, trusted, type Sql } from "../query/sql.ts";
import { readMigrations } from "./schema/migrations.ts";

/**
 * The version of the store that this program writes: how many migrations it knows. Every insert names it in its `log_comment`, as
 * `calls_add @2`; what prepares a store for version 2 says `@1.5`. An insert by hand names none, and passes.
 */
export const STORE_VERSION = readMigrations().length;

export function markOf(name: string, version: number): string {
  return `${name} @${version}`;
}

/** The version in a mark, as SQL; a large number if it has none. */
export function versionIn(mark: Sql): Sql {
  return sql`toFloat64OrDefault(extract(${mark}, '@([0-9.]+)'), toFloat64(1000000))`;
}

/** Part of an `ALTER TABLE`: from then on the engine itself refuses inserts that name an older version, also those that come late. */
export function fence(version: number): Sql {
  return sql`ADD CONSTRAINT IF NOT EXISTS ${trusted(fenceName(version))} CHECK ${versionIn(trusted("getSetting('log_comment')"))} >= ${trusted(String(version))}`;
}

/** The oldest version that may still write to this server, as a column; 0 if there is no fence. */
export const oldestWriter: Sql = sql`(SELECT max(arrayMax(one -> toFloat64OrZero(replaceOne(one, '_', '.')),
    arrayPushBack(extractAll(create_table_query, 'CONSTRAINT .?from_version_([0-9_]+)'), '0')))
  FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations')`;

export const OUTDATED = "a newer version of the service has opened the store";

export function fenceName(version: number): string {
  return `from_version_${String(version).replace(".", "_")}`;
}
