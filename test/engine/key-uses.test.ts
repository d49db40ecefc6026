import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyUses } from "../../src/http/auth/key-last-used.ts";
import { sql } from "../../src/query/sql.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

const rows = () =>
  test.engine.rows<{ n: number }>(sql`SELECT count() AS n FROM api_key_last_used`, { name: "test" });

describe("uses of keys", () => {
  it("cost one row per key and flush, however often a key was used; the latest of all replicas counts", async () => {
    let nowMs = 1_000;
    const here = createKeyUses(test.engine, { now: () => nowMs });
    const elsewhere = createKeyUses(test.engine, { now: () => 5_000 });
    for (let n = 0; n < 1000; n++) here.note("a");
    elsewhere.note("a");
    elsewhere.note("b");
    await Promise.all([here.flush(), elsewhere.flush()]);
    await here.flush();
    expect(await rows()).toEqual([{ n: 3 }]);
    expect(Object.fromEntries(await here.all())).toEqual({ a: 5_000, b: 5_000 });
    nowMs = 9_000;
    here.note("b");
    expect((await here.all()).get("b")).toBe(9_000);
  });
});
