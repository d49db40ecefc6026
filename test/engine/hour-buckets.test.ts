import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFingerprints } from "../../src/usage-rollup/fingerprints.ts";
import { hourBetween, hoursIn, readHourBuckets, singleHour } from "../../src/usage-rollup/hours.ts";
import { param, sql, type Sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

const options = { name: "test" };

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

/** On every shard. */
async function command(statement: Sql): Promise<void> {
  await test.engine.command(statement, { ...options, tables: "per_shard" });
}

describe("of a project with many calls", () => {
  const project = "acme/many" as Project;
  const last = 490_019;
  /** Fails unless it is read of the projection, on each shard. */
  const forced = (query: Sql): Sql =>
    sql`SELECT * FROM (${query}) SETTINGS force_optimize_projection_name = 'hour_fingerprints'`;
  const engine = (): TestEngine["engine"] => ({
    ...test.engine,
    rows: (query, given) => test.engine.rows(forced(query), { ...given, tables: "per_shard" }),
  });

  beforeAll(async () => {
    await test.engine.command(
      sql`INSERT INTO calls (project_id, hour, trace_id, id, started_at, ended_at)
          WITH toInt32(490000 + intDiv(number, 1000)) AS key_hour
          SELECT ${param("String", project)}, key_hour, toString(number), toString(number),
            fromUnixTimestamp64Milli(toInt64(key_hour) * 3600000, 'UTC') AS began, addHours(began, 1) FROM numbers(20000)`,
      options,
    );
    await command(sql`OPTIMIZE TABLE calls FINAL`);
  });

  const started = { from: last, to: last };
  const { signal } = new AbortController();
  const reading = (from: TestEngine["engine"]) => ({ engine: from, project, signal });

  it("hours and fingerprints are read without the rows", async () => {
    expect(new Set(await readHourBuckets(reading(engine()), started))).toEqual(new Set([last]));
    const found = await readFingerprints(reading(engine()), hourBetween({ from: 490_000, to: last }));
    expect(hoursIn({ first: 490_000, last }).every((hour) => found.hasRows(hour))).toBe(true);
  });

  it("hours are read so while a deletion waits, and fingerprints lack what it deletes", async () => {
    await command(sql`SYSTEM STOP MERGES calls`);
    const whole = hourBetween({ from: last, to: last });
    const before = await readFingerprints(reading(test.engine), whole);
    await command(sql`ALTER TABLE calls DELETE WHERE id = '19999' SETTINGS mutations_sync = 0`);
    expect(new Set(await readHourBuckets(reading(engine()), started))).toEqual(new Set([last]));
    const after = await readFingerprints(reading(test.engine), whole);
    expect(after.hasRows(last)).toBe(true);
    expect(after.of(singleHour(last))).not.toBe(before.of(singleHour(last)));
    await command(sql`SYSTEM START MERGES calls`);
  });
});
