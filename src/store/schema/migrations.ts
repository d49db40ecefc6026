import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "../../query/sql.ts";
import type { Engine, QueryOptions } from "../engine.ts";

export interface Migration {
  /** `1.0`, or a file name like `0001_add_teams.sql`. */
  readonly name: string;
  readonly text: string;
}

interface Target {
  /** Cluster of the replicated tables; `undefined` for one node. */
  readonly cluster: string | undefined;
}

/** Migration that creates all tables, one file each. */
export const FIRST = "1.0";

const MIGRATIONS_DIR = join(import.meta.dirname, "../../../migrations");

export function readMigrations(later = filesIn(MIGRATIONS_DIR)): readonly Migration[] {
  const tables = filesIn(join(MIGRATIONS_DIR, FIRST)).map(({ text }) => text);
  return [{ name: FIRST, text: tables.join("\n") }, ...later];
}

/** Reads the checksums of the applied migrations by name. Throws `StorageError`. */
export async function appliedMigrations(
  engine: Pick<Engine, "rows">,
  options: QueryOptions,
): Promise<ReadonlyMap<string, string>> {
  const [table] = await engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'`,
    { ...options, tables: "local" },
  );
  if (table?.n === 0) return new Map();
  const rows = await engine.rows<{ name: string; checksum: string }>(
    sql`SELECT name, checksum FROM schema_migrations FINAL`,
    { ...options, tables: "local" },
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

function filesIn(dir: string): readonly Migration[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(dir, name), "utf8") }));
}

/** Renders a migration's statements for one node, or for a cluster with replicated tables. */
export function statementsOf(migration: Migration, { cluster }: Target): readonly string[] {
  const text = withoutComments(migration)
    // a delayed or repeated INSERT inserts nothing
    .replaceAll(
      "{{not_applied}}",
      `(SELECT count() FROM schema_migrations WHERE name = '${migration.name}') = 0`,
    )
    .replaceAll("{{on_cluster}}", cluster === undefined ? "" : `ON CLUSTER '${cluster}'`)
    .replaceAll(/\{\{engine:([^}]+)\}\}/g, (_, name: string) =>
      cluster === undefined ? name : replicated(name),
    );
  const statements = text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
  return cluster === undefined ? statements : statements.map(withEmptyParts);
}

/**
 * Renders a replicated engine with a fixed ClickHouse Keeper path, so that an empty replica joins the existing table instead
 * of creating its own. `{table}` is the name at creation.
 */
function replicated(engine: string): string {
  const [, name, columns] = /^(\w+)(?:\((.*)\))?$/.exec(engine)!;
  const more = columns === undefined ? "" : `, ${columns}`;
  return `Replicated${name}('/sumtree/{database}/{shard}/{table}', '{replica}'${more})`;
}

/**
 * Keeps empty data parts: a replicated table that removes a part whose rows are all deleted forgets its inserts, and would
 * store a delayed duplicate of one.
 */
function withEmptyParts(statement: string): string {
  if (!statement.startsWith("CREATE TABLE")) return statement;
  const kept = "SETTINGS remove_empty_parts = 0";
  return /^SETTINGS /m.test(statement)
    ? statement.replace(/^SETTINGS /m, `${kept}, `)
    : `${statement}\n${kept}`;
}

/** Hashes a migration's statements; comments may change after it was applied. */
export function checksumOf(migration: Migration): string {
  return createHash("sha256").update(withoutComments(migration)).digest("hex");
}

function withoutComments({ text }: Migration): string {
  return text.replace(/^\s*--.*\n?/gm, "");
}
