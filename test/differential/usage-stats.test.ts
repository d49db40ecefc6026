import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import {
  type Ask,
  expectSums,
  messagesOf,
  rootsOf,
  statedBy,
  step,
  take,
  usageOf,
  WINDOW,
} from "../models/usage-history.ts";
import { picodollars } from "../models/usage-totals.ts";

/** Histories of a project, each of several steps. */
const RUNS = runs(2, 20);
const seed = chosenSeed();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const ask: Ask = (url, body) => test.post(url, body);

const question = fc.record({
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"),
  granularity: fc.constantFrom(3600, 5400, 86_400, undefined),
  group_by: fc.subarray<unknown>(
    [
      "llm",
      "provider",
      "op_name",
      "svc_user_id",
      "status",
      "api_key",
      { $getField: "attributes.tenant" },
      "trace_id",
    ],
    { maxLength: 4 },
  ),
  limit: fc.integer({ min: 1, max: 20 }),
  order_by: fc.constantFrom(
    "calls",
    "total_tokens",
    "total_cost",
    "other_cost",
    "stated_cost",
    "calls_stated",
    undefined,
  ),
});
describe("POST /usage/stats", () => {
  it("sums to the roots of the traces after every step, for any query", { timeout: 600_000 }, async () => {
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.array(fc.tuple(step, question, fc.boolean()), { minLength: 2, maxLength: 4 }),
        async (forests, steps) => {
          const project = `acme/stats-${projects++}`;
          const batch = forests.flatMap((rows, number) => messagesOf(rows, `t${number}`));
          const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
          expect(stored.json()).toEqual({ rejected: [] });
          const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
          const roots = forests.map((_, number) => `t${number}-top`);
          for (const [number, [one, asked, materializes]] of steps.entries()) {
            if (materializes) await materializeAll(test.engine);
            await take(ask, one, { project, ids, number });
            const response = await test.post("/usage/stats", { project_id: project, ...WINDOW, ...asked });
            expect(response.status, response.text).toBe(200);
            expectSums(response.json());
            const total = picodollars(response.json().total);
            expect(usageOf(total)).toEqual(picodollars(usageOf(await rootsOf(ask, project))));
            expect(total["stated_cost"]).toBe(await statedBy(ask, project, roots));
          }
        },
      ),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
  });
});
