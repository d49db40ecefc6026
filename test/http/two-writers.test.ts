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
const bodies = {
  start: (project_id: string) => ({
    start: { project_id, id: "a", trace_id: "t", op_name: "op", started_at: at(0) },
  }),
  end: (project_id: string, n: number) => ({ end: { project_id, id: "a", ended_at: at(1), output: n } }),
  update: (project_id: string, n: number) => ({ project_id, call_id: "a", display_name: `name ${n}` }),
};
const urls = { start: "/call/start", end: "/call/end", update: "/call/update" };

describe("two replicas", () => {
  it("return the end and the name acknowledged last", async () => {
    const seed = chosenSeed();
    const kind = fc.constantFrom<keyof typeof urls>("end", "update", "start");
    const step = fc.record({ kind, on: fc.boolean(), startsBeside: fc.boolean() });
    const numRuns = runs(3, 20);
    const sequences = fc.sample(fc.array(step, { minLength: 2, maxLength: 8 }), { numRuns, seed });
    for (const [index, steps] of sequences.entries()) {
      const project = `acme/two-${index}`;
      const send = async (kind: keyof typeof urls, on: boolean, n: number) => {
        const response = await (on ? first : second).post(urls[kind], bodies[kind](project, n));
        expect([response.status, response.text]).toEqual([200, expect.any(String)]);
      };
      for (const [n, { kind: what, on, startsBeside }] of steps.entries()) {
        await Promise.all([send(what, on, n), ...(startsBeside ? [send("start", !on, n)] : [])]);
      }
      await send("start", true, 0);
      const last = (what: string) => steps.findLastIndex((one) => one.kind === what);
      const { call } = (await second.post("/call/read", { project_id: project, id: "a" })).json();
      expect([call.output, call.display_name], `seed ${seed}, sequence ${index}`).toEqual([
        last("end") < 0 ? null : last("end"),
        last("update") < 0 ? null : `name ${last("update")}`,
      ]);
    }
  });

  it("return the price, the factor and the retention acknowledged last", async () => {
    const seed = chosenSeed();
    const kind = fc.constantFrom("price", "factor", "retention");
    const step = fc.record({ kind, on: fc.boolean() });
    const sequences = fc.sample(fc.array(step, { minLength: 2, maxLength: 8 }), {
      numRuns: runs(3, 60),
      seed,
    });
    for (const [index, steps] of sequences.entries()) {
      const project_id = `acme/last-${index}`;
      const { start } = bodies.start(project_id);
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
        const factors = [{ factor: n + 1, effective_date }];
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
                url: what === "price" ? "/cost/create" : "/cost/factor/create",
                headers: { authorization: authorization() },
                payload: { project_id, ...(what === "price" ? { costs } : { factors }) },
              });
        expect([response.statusCode, response.body]).toEqual([200, expect.any(String)]);
      }
      const last = (what: string) => steps.findLastIndex((one) => one.kind === what);
      const price = last("price") < 0 ? null : last("price") + 1;
      const factor = last("factor") < 0 ? 1 : last("factor") + 1;
      for (const service of [first, second]) {
        const receipt = (await service.post("/call/receipt", { project_id, call_id: "a" })).json();
        const days = await service.app.inject({
          url: retention,
          headers: { authorization: authorization() },
        });
        const { total_cost, billed_cost } = receipt.total;
        expect({ total_cost, billed_cost, ...days.json() }, `seed ${seed}, sequence ${index}`).toEqual({
          total_cost: price,
          billed_cost: price === null ? null : price * factor,
          days: last("retention") < 0 ? null : 10_000 + last("retention"),
        });
      }
    }
  });

  it("store a repeated call under one hour", async () => {
    const project_id = "acme/hours";
    const start = async (replica: typeof second, started_at: string) => {
      const { start: one } = bodies.start(project_id);
      expect((await replica.post("/call/start", { start: { ...one, started_at } })).status).toBe(200);
    };
    await start(first, "2026-01-01T00:00:00Z");
    const { statusCode } = await first.app.inject({
      method: "DELETE",
      url: `/projects/${project_id}`,
      headers: { authorization: authorization() },
    });
    expect(statusCode).toBe(202);
    await start(second, "2026-01-02T00:00:00Z");
    await start(first, "2026-01-03T00:00:00Z");
    const { text } = await first.post("/calls/stream_query", { project_id });
    const calls = text.trim().split("\n");
    expect(calls.map((line) => JSON.parse(line).started_at)).toEqual(["2026-01-03T00:00:00.000000Z"]);
  });

  it.each(["end", "update"] as const)("both keep a deleted call deleted: %s", async (what) => {
    const project = `acme/generation-${what}`;
    const post = async (replica: typeof second, kind: keyof typeof urls, more: object = {}) => {
      const body = bodies[kind](project, 7);
      const sent = "start" in body ? { start: { ...body.start, ...more } } : body;
      expect((await replica.post(urls[kind], sent)).status).toBe(200);
    };
    await post(second, "start", { trace_id: "old" });
    await post(second, "end");
    const { statusCode } = await first.app.inject({
      method: "DELETE",
      url: `/projects/${project}`,
      headers: { authorization: authorization() },
    });
    expect(statusCode).toBe(202);
    await post(second, what);
    await post(first, "start", { trace_id: "new" });
    const { call } = (await second.post("/call/read", { project_id: project, id: "a" })).json();
    expect(call).toMatchObject(
      what === "end" ? { output: 7, display_name: null } : { output: null, display_name: "name 7" },
    );
  });
});
