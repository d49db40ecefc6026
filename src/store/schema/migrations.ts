import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Migration {
  /** `1.0`, or the file's name, like `0001_add_teams.sql`. */
  readonly name: string;
  readonly text: string;
}

interface Place {
  /** Name of the cluster whose tables are replicated; undefined for one node. */
  readonly cluster: string | undefined;
}

/** All tables, in a file each. */
export const FIRST = "1.0";

const MIGRATIONS_DIR = join(import.meta.dirname, "../../../migrations");

export function readMigrations(later = filesIn(MIGRATIONS_DIR)): readonly Migration[] {
  const tables = filesIn(join(MIGRATIONS_DIR, FIRST)).map(({ text }) => text);
  return [{ name: FIRST, text: tables.join("\n") }, ...later];
}

function filesIn(dir: string): readonly Migration[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(dir, name), "utf8") }));
}

/** A migration's statements for one node, or for a cluster with replicated tables. */
export function statementsOf(migration: Migration, { cluster }: Place): readonly string[] {
  const text = migration.text
    .replace(/^\s*--.*$/gm, "")
    // what comes late, or once more, inserts nothing
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
 * A fixed place in the keeper: an empty replica can only join what is there, never begin a store of its own. `{table}`
 * is the name at the time of the creation.
 */
function replicated(engine: string): string {
  const [, name, columns] = /^(\w+)(?:\((.*)\))?$/.exec(engine)!;
  const more = columns === undefined ? "" : `, ${columns}`;
  return `Replicated${name}('/sumtree/{database}/{shard}/{table}', '{replica}'${more})`;
}

/**
 * A replicated table that removes a part whose rows are all deleted forgets which inserts were in it, and would store one of them that
 * is repeated late.
 */
function withEmptyParts(statement: string): string {
  if (!statement.startsWith("CREATE TABLE")) return statement;
  const kept = "SETTINGS remove_empty_parts = 0";
  return /^SETTINGS /m.test(statement)
    ? statement.replace(/^SETTINGS /m, `${kept}, `)
    : `${statement}\n${kept}`;
}

export function checksumOf(migration: Migration): string {
  return createHash("sha256").update(migration.text).digest("hex");
}
