import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { shardingKey, LOCAL_TABLES, DISTRIBUTED_TABLES } from "../../src/store/cluster/shards/shards.ts";
import { readMigrations, statementsOf } from "../../src/store/schema/migrations.ts";

import { LATER } from "../helpers/later-migration.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const ofFiles = readdirSync(join(ROOT, "migrations/1.0")).map((name) => basename(name, ".sql"));
/** The rows of the first table of docs/schema.md, cell by cell, by the table that they describe. */
const documented = new Map(
  [
    ...read("docs/schema.md")
      .split("\n## ", 1)[0]!
      .matchAll(/^\| `(\w+)` \|(.+)\|$/gm),
  ].map(([, table, cells]) => [table!, cells!.split("|").map((cell) => cell.trim().replaceAll("`", ""))]),
);

function partitionOf(create: string): string {
  const expression = /^PARTITION BY (.+)$/m.exec(create)?.[1];
  if (expression === undefined) return "–";
  const grain = expression.startsWith("(grain, ") ? "grain and " : "";
  return `${grain}${expression.includes("toYYYYMM(") ? "month" : "year"}`;
}

function orderOf(create: string): string {
  return /^ORDER BY \(?(.+?)\)?;?$/m.exec(create)![1]!;
}

/** Statements that may be repeated, even after services of a newer version have changed the tables. */
const HARMLESS =
  /^(CREATE TABLE IF NOT EXISTS |INSERT INTO [\s\S]+ \(SELECT count\(\) FROM schema_migrations WHERE name = '[^']+'\) = 0$|ALTER TABLE \w+ (ON CLUSTER '\w+' )?ADD \w+ IF NOT EXISTS (?![\s\S]*\b(DROP|UPDATE|DELETE|RENAME|MODIFY)\b))/;

describe("the schema", () => {
  it("is changed only by statements that are harmless when late", () => {
    for (const migration of [...readMigrations(), LATER])
      for (const statement of statementsOf(migration, { cluster: "c" })) expect(statement).toMatch(HARMLESS);
    expect("ALTER TABLE calls ON CLUSTER 'c' UPDATE a = 1 WHERE 1").not.toMatch(HARMLESS);
    expect("INSERT INTO models SELECT id FROM calls FINAL").not.toMatch(HARMLESS);
    expect("ALTER TABLE calls ADD COLUMN IF NOT EXISTS a Int8, DROP COLUMN b").not.toMatch(HARMLESS);
  });

  it("has a file for each table, which is distributed over shards and described in docs/schema.md", () => {
    const { name, text } = readMigrations()[0]!;
    expect(name).toBe("1.0");
    const made = [...text.matchAll(/^CREATE TABLE IF NOT EXISTS (\w+) /gm)].map(([, table]) => table!);
    expect(made).toEqual(ofFiles);
    expect([...DISTRIBUTED_TABLES].sort()).toEqual(ofFiles);
    expect([...documented.keys()].sort()).toEqual([...ofFiles, ...LOCAL_TABLES].sort());
  });

  it.each(ofFiles)("%s: the page lists its sorting key, partition and shard", (table) => {
    const create = read(`migrations/1.0/${table}.sql`);
    const shard = /^cityHash64\((.+)\)$/.exec(shardingKey(table))![1]!;
    const [, order, partition, sharding] = documented.get(table)!;
    expect({ order, partition, shard: sharding }).toEqual({
      order: orderOf(create),
      partition: partitionOf(create),
      shard,
    });
  });
});
