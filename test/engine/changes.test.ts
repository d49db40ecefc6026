import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer, openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { sql } from "../../src/query/sql.ts";

const options = { name: "test" };
const dir = mkdtempSync(join(tmpdir(), "sumtree-changes-"));
let engine: Engine;
beforeAll(async () => {
  engine = await openEmbedded(dir);
  for (const table of [sql`one`, sql`two`])
    await engine.command(sql`CREATE TABLE ${table} (n UInt8) ENGINE = MergeTree ORDER BY n`, options);
});
afterAll(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const count = (table: string): number => engine.writeCountOf(table)!;
const causes: readonly [string, () => Promise<unknown>, readonly [one: number, two: number]][] = [
  ["an insert", () => engine.insert("one", [{ n: 1 }], options), [1, 0]],
  ["no rows", () => engine.insert("one", [], options), [0, 0]],
  ["an insert that is refused", () => engine.insert("one", [{ m: 1 }], options), [1, 0]],
  ["a command, which may change any table", () => engine.command(sql`TRUNCATE TABLE one`, options), [1, 1]],
  ["a command that is refused", () => engine.command(sql`TRUNCATE TABLE none`, options), [1, 1]],
  ["a read", () => engine.rows(sql`SELECT n FROM one`, options), [0, 0]],
];

describe("write counts of the embedded engine", () => {
  it.each(causes)("%s", async (_, cause, [one, two]) => {
    const before = [count("one"), count("two")];
    await cause().catch(() => undefined);
    expect([count("one") - before[0]!, count("two") - before[1]!]).toEqual([one, two]);
  });

  it("are unknown for a server, to which others may write", async () => {
    const server = connectServer("http://127.0.0.1:1");
    expect(server.writeCountOf("one")).toBeUndefined();
    await server.close();
  });
});
