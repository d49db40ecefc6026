import { afterAll, beforeAll, expect, it } from "vitest";
import { outcomeOf, sendChat, setBudget } from "../helpers/budgeted.ts";
import { hasExternalStore } from "../helpers/external-store.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { callsOf } from "../helpers/recorded-calls.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const SECOND_MS = 1000;

let test: TestGateway;
let steadyMs = 0;
/** How long a reading takes, and how many there were. */
let readMs = 0;
let readings = 0;
/** Statements of readings that are under way. */
let open = 0;
beforeAll(async () => {
  test = await startGateway({
    deps: { steady: { now: () => steadyMs } },
    wrapEngine: (engine) =>
      interceptStatements(engine, (name, run) => {
        if (!name.startsWith("usage_")) return run();
        if (name === "usage_rollup_fingerprints") {
          readings++;
          steadyMs += readMs;
        }
        open++;
        return run().finally(() => open--);
      }),
  });
});
afterAll(() => test.close());

let stored = 0;
/** Sends a request; returns how many sums were read, once its call is stored. */
async function readingsOf(project: string): Promise<number> {
  const before = readings;
  expect(await outcomeOf(sendChat(test.baseUrl, project))).toBe("200");
  stored++;
  await until(async () => (await callsOf(test, project)).length === stored && open === 0);
  return readings - before;
}

async function ingest(project_id: string): Promise<void> {
  const start = {
    project_id,
    started_at: new Date().toISOString(),
    op_name: "op",
    inputs: {},
    attributes: {},
  };
  expect((await test.post("/call/start", { start })).status).toBe(200);
  stored++;
}

// others may write to an external store, so sums of it are read every second
it.skipIf(hasExternalStore)(
  "sums are read after changes by others alone; those of a project rest together",
  async () => {
    const project = "acme/readings";
    await setBudget(test, project, { limit: { requests: 1000 } });
    await setBudget(test, project, { limit: { tokens: 1e6 }, window: "month" });
    expect(await readingsOf(project)).toBe(1);
    expect(await readingsOf(project)).toBe(0);
    await ingest(project);
    expect(await readingsOf(project)).toBe(1);
    expect(await readingsOf(project)).toBe(0);

    // what requests have used since is known without
    steadyMs += 60 * SECOND_MS;
    expect(await readingsOf(project)).toBe(0);

    readMs = SECOND_MS;
    await ingest(project);
    expect(await readingsOf(project)).toBe(1);
    await ingest(project);
    steadyMs += 8 * SECOND_MS;
    expect(await readingsOf(project)).toBe(0);
    steadyMs += 2 * SECOND_MS;
    expect(await readingsOf(project)).toBe(1);
  },
);
