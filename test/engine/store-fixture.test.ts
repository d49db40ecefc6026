import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { compareMigrations, migrate } from "../../src/store/schema/migrate.ts";
import { comparable, FIXTURE_PROJECT } from "../helpers/store-fixture.ts";
import { Interruption, interruptBefore, LATER } from "../helpers/later-migration.ts";
import { isLong } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/stores/1.0");

interface Answered {
  readonly path: string;
  readonly body: object;
  readonly answer: unknown;
}

/** Responses of the version that created the fixture. */
const answered = JSON.parse(
  gunzipSync(readFileSync(join(FIXTURE, "answers.json.gz"))).toString(),
) as readonly Answered[];

let dir: string;
let engine: Engine;
let test: TestApp;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-kept-store-"));
  execFileSync("tar", ["-xzf", join(FIXTURE, "store.tgz"), "-C", dir]);
  engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  test = await startAppOn(engine);
}, 60_000);
afterAll(async () => {
  await test.close();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

async function expectSameAnswers(): Promise<void> {
  for (const { path, body, answer } of answered) {
    const now = await test.post(path, body);
    expect(now.status).toBe(200);
    expect(comparable(path, now.text), `${path} ${JSON.stringify(body)}`).toEqual(answer);
  }
}

const options = { cluster: undefined, later: [LATER] };
const STATEMENTS = 4;

async function contents(): Promise<unknown> {
  const rows = await engine.rows(
    sql`SELECT (SELECT (count(), sum(cityHash64(*))) FROM models FINAL) AS models,
          (SELECT groupUniqArray(currency) FROM llm_prices FINAL) AS currencies`,
    { name: "test" },
  );
  return rows[0];
}

describe("a store of 1.0", () => {
  it("returns the responses of the version that created it", async () => {
    expect(answered.length).toBeGreaterThan(30);
    await expectSameAnswers();
  });

  it("accepts late messages for its calls: a pending end, an end of an open call, a delete", async () => {
    const project_id = FIXTURE_PROJECT;
    const started = { project_id, id: "later", trace_id: "t-later", op_name: "o" };
    await test.post("/call/start", { start: { ...started, started_at: "2026-01-01T00:00:00Z" } });
    const read = await test.post("/call/read", { project_id, id: "later" });
    expect(read.json().call).toMatchObject({ output: "waits", ended_at: "2026-01-02T00:00:00.000000Z" });

    const end = { project_id, id: "c-0-2", ended_at: "2026-06-01T00:00:00Z", output: "late", summary: {} };
    await test.post("/call/end", { end });
    const ended = await test.post("/call/read", { project_id, id: "c-0-2" });
    expect(ended.json().call).toMatchObject({ output: "late", inputs: { n: 2 } });
    const deleted = await test.post("/calls/delete", { project_id, call_ids: ["c-0-0", "later"] });
    expect(deleted.json().num_deleted).toBe(7);
  });
});

describe("a migration after 1.0", () => {
  // what came late is in no answer
  async function openAnew(): Promise<void> {
    await test.close();
    await engine.close();
    rmSync(dir, { recursive: true });
    dir = mkdtempSync(join(tmpdir(), "sumtree-kept-store-"));
    execFileSync("tar", ["-xzf", join(FIXTURE, "store.tgz"), "-C", dir]);
    engine = await openEmbedded(dir);
    test = await startAppOn(engine);
  }

  /** The names that it says it has applied; undefined if it was cut off before its `count`th statement. */
  async function migrateCut(count: number): Promise<readonly string[] | undefined> {
    let left = count;
    const cut = interruptBefore(engine, () => left-- <= 0);
    return migrate(cut, options).catch((error: unknown) => {
      expect(error).toBeInstanceOf(Interruption);
      return undefined;
    });
  }

  async function expectMigrated(): Promise<void> {
    const [row] = await engine.rows<{ n: number }>(sql`SELECT countIf(usage != '[]') AS n FROM calls FINAL`, {
      name: "test",
    });
    expect(row!.n).toBeGreaterThan(20);
    expect(await contents()).toMatchObject({ models: [row!.n, expect.anything()], currencies: ["EUR"] });
    if (isLong) await expectSameAnswers();
    expect(await migrate(engine, options)).toEqual([]);
  }

  it("is applied completely if interrupted before each of its statements", async () => {
    await openAnew();
    let cuts = 0;
    while ((await migrateCut(cuts)) === undefined) cuts++;
    expect(cuts).toBeGreaterThan(STATEMENTS);
    await expectMigrated();
  });

  it.runIf(isLong)("is applied completely by several services, each of them interrupted", async () => {
    await openAnew();
    const random = seededRandom();
    const applied: string[] = [];
    for (let last = 1; applied.length === 0; last++) {
      const several = Array.from({ length: 3 }, () => migrateCut(Math.floor(random.next() * (last + 1))));
      applied.push(...(await Promise.all(several)).flatMap((names) => names ?? []));
    }
    // what one has done another does not do again, so that two may come to the end
    expect(new Set(applied)).toEqual(new Set([LATER.name]));
    await expectMigrated();
  });

  it("is rejected by the previous version, and if its file has changed", async () => {
    await expect(migrate(engine, { cluster: undefined })).rejects.toThrow(
      `The store has migration ${LATER.name}, which this version does not know: start the newer version.`,
    );
    const changed = { cluster: undefined, later: [{ ...LATER, text: `${LATER.text}\nSELECT 1;` }] };
    await expect(migrate(engine, changed)).rejects.toThrow(
      `Migration ${LATER.name} was changed after it was applied. Restore the file.`,
    );
    expect(await compareMigrations(engine)).toEqual({ missing: [], unknown: [LATER.name] });
  });
});
