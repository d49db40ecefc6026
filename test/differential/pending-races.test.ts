import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Interleaving } from "../helpers/interleave.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";

const WRITES = /^(call_keys|call_hours|trace_hours|multi_hour|pending_call|calls_add)/;
const writes = new Interleaving((name) => WRITES.test(name));

let store: TestEngine;
let services: readonly TestApp[];
beforeAll(async () => {
  store = await startEngine();
  const start = (at: 0 | 1): Promise<TestApp> =>
    startAppOn(store.engine, {
      deps: { lingerMs: 0 },
      wrapEngine: (engine) => writes.engineOf(at, engine),
    });
  services = [await start(0), await start(1)];
});
afterAll(async () => {
  for (const service of services) await service.close();
  await store.close();
});

const on = fc.constantFrom(0, 1);
const message = fc.record({ what: fc.constantFrom("end" as const, "rename" as const), on });
let projects = 0;

it("whatever order the statements of two services come in, the end acknowledged last holds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        parked: fc.array(message, { maxLength: 2 }),
        startOn: on,
        atOnce: fc.constantFrom("end" as const, "rename" as const, undefined),
        startsAgain: fc.boolean(),
        schedule: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 7, maxLength: 7 }),
      }),
      async ({ parked, startOn, atOnce, startsAgain, schedule }) => {
        const project_id = `acme/race-${projects++}`;
        const expected: Record<string, string | null> = { output: null, display_name: null };
        let count = 0;
        const post = async (service: number, url: string, body: object): Promise<void> => {
          const { status } = await services[service]!.post(url, body);
          expect(status).toBe(200);
        };
        const send = ({ what, on: service }: { what: "end" | "rename"; on: number }): Promise<void> => {
          const text = `${what} ${++count}`;
          expected[what === "end" ? "output" : "display_name"] = text;
          return what === "end"
            ? post(service, "/call/end", {
                end: { project_id, id: "c", ended_at: "2026-01-01T00:01:00Z", output: text, summary: {} },
              })
            : post(service, "/call/update", { project_id, call_id: "c", display_name: text });
        };
        const start = { project_id, id: "c", trace_id: "t", op_name: "op", inputs: {}, attributes: {} };
        const begin = (service: number) => () =>
          post(service, "/call/start", { start: { ...start, started_at: "2026-01-01T00:00:00Z" } });
        for (const one of parked) await send(one);
        const beside = atOnce === undefined ? [] : [() => send({ what: atOnce, on: 1 - startOn })];
        await writes.run([begin(startOn), ...beside], schedule);
        if (startsAgain) await begin(1 - startOn)();
        const { call } = (await services[0]!.post("/call/read", { project_id, id: "c" })).json();
        expect({ output: call.output, display_name: call.display_name }).toEqual(expected);
      },
    ),
    { seed: chosenSeed(), numRuns: runs(10, 300) },
  );
});
