import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { migrate, missingMigrations } from "../../src/store/schema/migrate.ts";
import { completeCall } from "../helpers/cluster-load.ts";
import { Interruption, interruptBefore, LATER } from "../helpers/later-migration.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/app";
const STATEMENTS = 4;
const CALLS = 20;
const options = { cluster: undefined, later: [LATER] };

let test: TestApp;
beforeEach(async () => {
  test = await startApp();
  const batch = Array.from({ length: CALLS }, (_, n) => completeCall(project_id, `c${n}`, `t${n % 3}`));
  expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).status).toBe(200);
  const price = { prompt_token_cost: 1, completion_token_cost: 1 };
  await test.post("/cost/create", { project_id, costs: { "gpt-4o": price } });
});
afterEach(() => test.close());

/** The names that it says it has applied; undefined if it was cut off before its `count`th statement. */
async function migrateCut(count: number): Promise<readonly string[] | undefined> {
  let left = count;
  const cut = interruptBefore(test.engine, () => left-- <= 0);
  return migrate(cut, options).catch((error: unknown) => {
    expect(error).toBeInstanceOf(Interruption);
    return undefined;
  });
}

describe("a migration after 1.0", () => {
  it("is applied once if interrupted before each of its statements, and then required", async () => {
    let cuts = 0;
    while ((await migrateCut(cuts)) === undefined) cuts++;
    expect(cuts).toBeGreaterThan(STATEMENTS);
    const copied = sql`SELECT (SELECT toUInt32(count()) FROM models FINAL) AS models,
      (SELECT groupUniqArray(currency) FROM llm_prices FINAL) AS currencies`;
    expect(await test.engine.rows(copied, { name: "test" })).toEqual([
      { models: CALLS, currencies: ["EUR"] },
    ]);
    expect(await migrate(test.engine, options)).toEqual([]);
    expect(await missingMigrations(test.engine)).toEqual([]);
    await expect(migrate(test.engine, { cluster: undefined })).rejects.toThrow(
      `The store has migration ${LATER.name}, which this version does not know: start the newer version.`,
    );
    const changed = { cluster: undefined, later: [{ ...LATER, text: `${LATER.text}\nSELECT 1;` }] };
    await expect(migrate(test.engine, changed)).rejects.toThrow(
      `Migration ${LATER.name} was changed after it was applied. Restore the file.`,
    );
  });
});
