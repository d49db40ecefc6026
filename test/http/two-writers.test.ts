import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

/** Two replicas on one store, the clock of the second an hour behind. */
let first: TestApp;
let second: Awaited<ReturnType<typeof startAppOn>>;
beforeAll(async () => {
  first = await startApp();
  second = await startAppOn(first.engine, {
    deps: { clock: { now: () => Date.now() - 3_600_000 } },
  });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

const at = (second: number): string => `2026-01-01T00:00:${String(second % 60).padStart(2, "0")}Z`;
describe("two replicas", () => {
  it("return the price and the retention acknowledged last", async () => {
    const seed = chosenSeed();
    const kind = fc.constantFrom("price", "retention");
    const step = fc.record({ kind, on: fc.boolean() });
    const sequences = fc.sample(fc.array(step, { minLength: 2, maxLength: 8 }), {
      numRuns: runs(1, 60),
      seed,
    });
    for (const [index, steps] of sequences.entries()) {
      const project_id = `acme/last-${index}`;
      const start = { project_id, id: "a", trace_id: "t", op_name: "op", started_at: at(0) };
      const summary = { usage: { m: { requests: 1, prompt_tokens: 1 } } };
      expect((await first.post("/call/start", { start })).status).toBe(200);
      expect(
        (await first.post("/call/end", { end: { project_id, id: "a", ended_at: at(1), summary } })).status,
      ).toBe(200);
      const retention = `/projects/${project_id}/retention`;
      for (const [n, { kind: what, on }] of steps.entries()) {
        const service = on ? first : second;
        const effective_date = "2020-01-01T00:00:00Z";
        const costs = { m: { prompt_token_cost: n + 1, completion_token_cost: 0, effective_date } };
        const response =
          what === "retention"
            ? await service.app.inject({
                method: "PUT",
                url: retention,
                headers: { authorization: authorization() },
                payload: { days: 10_000 + n },
              })
            : await service.app.inject({
                method: "POST",
                url: "/cost/create",
                headers: { authorization: authorization() },
                payload: { project_id, costs },
              });
        expect([response.statusCode, response.body]).toEqual([200, expect.any(String)]);
      }
      const last = (what: string) => steps.findLastIndex((one) => one.kind === what);
      const price = last("price") < 0 ? null : last("price") + 1;
      for (const service of [first, second]) {
        const receipt = (await service.post("/call/receipt", { project_id, call_id: "a" })).json();
        const days = await service.app.inject({
          url: retention,
          headers: { authorization: authorization() },
        });
        const { total_cost } = receipt.total;
        expect({ total_cost, ...days.json() }, `seed ${seed}, sequence ${index}`).toEqual({
          total_cost: price,
          days: last("retention") < 0 ? null : 10_000 + last("retention"),
        });
      }
    }
  });
});
