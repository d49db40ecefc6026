import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectServer, openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { MigrationError } from "../../src/store/migration-error.ts";
import { sql, trusted } from "../../src/query/sql.ts";
import { startHttpFront, type HttpFront } from "../helpers/clickhouse-http-front.ts";

const CALLS = 300;
const carry = { callsPerSlice: 100 };

let dir: string;
/** The embedded engine that holds the store. */
let engine: Engine;
let front: HttpFront;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-carry-"));
  engine = await openEmbedded(dir);
  front = await startHttpFront(dir);
  // everything before the migrations that lay calls out in time
  const before = withEachStatement(engine, (name) => {
    if (name === "migrate_0012") throw new Cut();
  });
  await expect(migrate(before, { cluster: undefined })).rejects.toThrow(Cut);
  await fill();
});
afterEach(async () => {
  await front.close();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

class Cut extends Error {}

/** Hears the name of each statement before it runs, and stops it by throwing. */
function withEachStatement(inner: Engine, hear: (name: string) => void | Promise<void>): Engine {
  const heard = async (name: string): Promise<void> => hear(name);
  return {
    ...inner,
    rows: async (query, options) => heard(options.name).then(() => inner.rows(query, options)),
    command: async (statement, options) => heard(options.name).then(() => inner.command(statement, options)),
    insert: async (table, rows, options) =>
      heard(options.name).then(() => inner.insert(table, rows, options)),
  };
}

/** Starts and ends in rows of their own, over half a year; every tenth call is open, every hundredth has no start. */
async function fill(): Promise<void> {
  const run = (text: string): Promise<void> => engine.command(trusted(text), { name: "test_fill" });
  const began = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number * 51839 + number / 1000000`;
  const key = `concat('acme/p', toString(number % 3)), concat('t', toString(intDiv(number, 7) * 7919 % 1000)), toString(number)`;
  await run(`SYSTEM STOP MERGES calls`);
  await run(`INSERT INTO calls (project_id, trace_id, id, op_name, started_at, inputs)
    SELECT ${key}, 'op', ${began}, concat('{"n":', toString(number), '}') FROM numbers(${CALLS}) WHERE number % 100 != 1`);
  await run(`INSERT INTO calls (project_id, trace_id, id, ended_at, output, usage)
    SELECT ${key}, ${began} + 90000, '"é"', '[]' FROM numbers(${CALLS}) WHERE number % 10 != 0`);
  await run(`INSERT INTO calls (project_id, trace_id, id, deleted_at)
    SELECT ${key}, ${began} FROM numbers(${CALLS}) WHERE number % 50 = 2`);
}

async function one<Row>(text: string): Promise<Row> {
  const [row] = await engine.rows<Row>(sql`${trusted(text)}`, { name: "test" });
  return row!;
}

/** Every column of every call, whichever way they lie. */
async function contents(): Promise<{ calls: number; sum: string }> {
  const rows = await engine.rows<Record<string, unknown>>(
    sql`SELECT * FROM calls FINAL ORDER BY project_id, trace_id, id`,
    {
      name: "test",
    },
  );
  for (const row of rows) {
    delete row["hour"];
    // of later migrations than the table that is carried over
    delete row["api_key"];
    delete row["fingerprint"];
  }
  const texts = rows.map((row) => JSON.stringify(row));
  return { calls: texts.length, sum: createHash("sha256").update(texts.join()).digest("hex") };
}

const ways: Readonly<Record<string, () => Promise<Engine>>> = {
  "in the process": async () => engine,
  "by URL": async () => connectServer(front.url),
};

describe.each(Object.keys(ways))("carrying calls over into the order of time, %s", (way) => {
  let store: Engine;
  beforeEach(async () => {
    store = await ways[way]!();
  });
  afterEach(async () => {
    if (store !== engine) await store.close();
  });

  it(
    "loses and doubles nothing when it is cut off before any of its statements",
    { timeout: 300_000 },
    async () => {
      const before = await contents();
      expect(before.calls).toBe(CALLS);
      let cuts = 0;
      for (let last = 0; ; last++) {
        let count = 0;
        const cut = withEachStatement(store, () => {
          if (count++ >= last) throw new Cut();
        });
        try {
          await migrate(cut, { cluster: undefined, carry });
          break;
        } catch (error) {
          expect(error).toBeInstanceOf(Cut);
          cuts++;
        }
      }
      expect(cuts).toBeGreaterThan(10);
      expect(await contents()).toEqual(before);
      expect(
        await one(`SELECT
        countIf((project_id, trace_id, hour) NOT IN (SELECT project_id, trace_id, hour FROM trace_hours)) AS traces,
        countIf((project_id, trace_id) IN (SELECT project_id, trace_id FROM calls GROUP BY project_id, trace_id HAVING uniqExact(hour) > 1)
          AND (project_id, hour, trace_id) NOT IN (SELECT project_id, hour, trace_id FROM spanning_traces)) AS spanning,
        countIf(started_at IS NOT NULL AND (project_id, id, trace_id, hour) NOT IN
          (SELECT project_id, id, trace_id, hour FROM call_traces)) AS calls,
        countIf(started_at IS NOT NULL AND (project_id, 'started', intDiv(toUnixTimestamp(assumeNotNull(started_at)), 3600), hour) NOT IN
          (SELECT project_id, kind, at_hour, hour FROM call_hours)) AS started,
        countIf(ended_at IS NOT NULL AND (project_id, 'ended', intDiv(toUnixTimestamp(assumeNotNull(ended_at)), 3600), hour) NOT IN
          (SELECT project_id, kind, at_hour, hour FROM call_hours)) AS ended
      FROM calls FINAL`),
      ).toEqual({ traces: 0, spanning: 0, calls: 0, started: 0, ended: 0 });
      expect((await one<{ n: number }>("SELECT count() AS n FROM spanning_traces")).n).toBeGreaterThan(
        CALLS / 2,
      );
      expect(
        await one(`SELECT uniqExact(partition) AS months FROM system.parts WHERE table = 'calls' AND active`),
      ).toEqual({ months: 6 });
    },
  );

  it("keeps the old table and says so when the new one differs", async () => {
    const meddling = withEachStatement(store, async (name) => {
      if (name !== "carry_hours") return;
      await engine.command(
        sql`ALTER TABLE calls_in_time UPDATE inputs = '{}' WHERE id = '7' SETTINGS mutations_sync = 1`,
        { name: "test" },
      );
    });
    await expect(migrate(meddling, { cluster: undefined, carry })).rejects.toThrow(MigrationError);
    expect(await one("SELECT count() AS calls FROM calls_by_trace FINAL")).toEqual({ calls: CALLS });
  });
});
