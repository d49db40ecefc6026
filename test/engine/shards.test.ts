import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  distributedDatabase,
  matchesShardLayout,
  shardingKey,
  LOCAL_TABLES,
  DISTRIBUTED_TABLES,
} from "../../src/store/cluster/shards/shards.ts";
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
  it("depends on its key, in every table, so that all of its versions are on one shard", async () => {
    const tables = await test.engine.rows<{ table: string; key: string }>(
      sql`SELECT name AS table, sorting_key AS key FROM system.tables
          WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
      { name: "test_tables" },
    );
    const names = tables.map(({ table }) => table);
    expect(names.toSorted()).toEqual([...DISTRIBUTED_TABLES, ...LOCAL_TABLES].toSorted());
    for (const { table, key } of tables) {
      if (PROJECT_BY_ID.has(table) || LOCAL_TABLES.includes(table)) continue;
      const placedBy = /^cityHash64\((.+)\)$/.exec(shardingKey(table))![1]!.split(", ");
      expect(key.split(", "), table).toEqual(expect.arrayContaining(placedBy));
    }
  });

  it("is valid for one number of shards, which is in the name of their database", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\w{1,20}$/), fc.integer({ min: 2, max: 99 }), (database, shards) => {
        expect(distributedDatabase(database, shards)).toBe(`${database}_${shards}_shards`);
        expect(matchesShardLayout(shards, [shards])).toBe(true);
        for (const arranged of [[], [shards + 1], [shards, shards + 1]])
          expect(matchesShardLayout(shards, arranged)).toBe(false);
        expect(matchesShardLayout(1, [shards])).toBe(false);
      }),
    );
    expect(matchesShardLayout(1, [])).toBe(true);
  });
});
