import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseOfShards, isArrangedFor, shardingKey, shardsInEnding } from "../../src/clickhouse/shards.ts";
import { sql } from "../../src/query/sql.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

/** The project of a receipt never changes. */
const PROJECT_BY_ID = new Set(["deletions"]);

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

describe("the shard of a row", () => {
  it("follows from its key, in every table, so that all of its versions lie together", async () => {
    const tables = await test.engine.rows<{ table: string; columns: string[]; sorting_key: string }>(
      sql`SELECT table, groupArray(column) AS columns, any(sorting_key) AS sorting_key FROM
            (SELECT c.table AS table, c.name AS column, t.sorting_key AS sorting_key FROM system.columns AS c
             INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
             WHERE c.database = currentDatabase() AND t.engine LIKE '%MergeTree' ORDER BY c.table, c.position)
          GROUP BY table`,
      { name: "test_tables" },
    );
    expect(tables.length).toBeGreaterThan(15);
    for (const { table, columns, sorting_key } of tables) {
      if (PROJECT_BY_ID.has(table)) continue;
      const key = /^cityHash64\((.+)\)$/.exec(shardingKey(table, columns))![1]!.split(", ");
      expect(sorting_key.split(", "), table).toEqual(expect.arrayContaining(key));
    }
  });

  it("is known for one number of shards, which the name of their database says", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\w{1,20}$/), fc.integer({ min: 2, max: 99 }), (database, shards) => {
        const ending = databaseOfShards(database, shards).slice(database.length);
        expect(shardsInEnding(ending)).toBe(shards);
        expect(isArrangedFor(shards, [shards])).toBe(true);
        for (const arranged of [[], [shards + 1], [shards, shards + 1]])
          expect(isArrangedFor(shards, arranged)).toBe(false);
        expect(isArrangedFor(1, [shards])).toBe(false);
      }),
    );
    expect(isArrangedFor(1, [])).toBe(true);
  });
});
