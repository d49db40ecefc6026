import { afterAll, beforeAll, expect, it } from "vitest";
import {
  budgetsOf,
  outcomeOf,
  overIn,
  sendChat,
  setBudget,
  statesOf,
  usedIn,
  NOTHING,
} from "../helpers/budgeted.ts";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { runs } from "../helpers/runs.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";

const REQUESTS = runs(60, 400);
const ROUNDS = 4;

let first: TestGateway;
let second: SecondApp;
beforeAll(async () => {
  const settings = { BUDGET_REPLICAS: "2", RATE_LIMIT_PER_MINUTE: "1000000000" };
  first = await startGateway({ settings });
  second = await startSecondApp(first, settings);
});
afterAll(async () => {
  await second.close();
  await first.close();
});

it("two services of one store use no more than the limits together, and each some of them", async () => {
  const project = "acme/replicas";
  await setBudget(first, project, { limit: { requests: 31 }, window: "month" });
  await setBudget(first, project, { scope: "svc_user_id", limit: { tokens: 1700 } });
  const urls = [first.baseUrl, `${second.url}/v1`];
  const passed = urls.map(() => 0);
  const refusals = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const sent = Array.from({ length: REQUESTS }, (_, at) =>
      outcomeOf(
        sendChat(urls[at % 2]!, project, { user: ["ada", "ben", "cyd"][at % 3], stream: at % 5 === 0 }),
      ),
    );
    for (const [at, outcome] of (await Promise.all(sent)).entries()) {
      if (outcome === "200") passed[at % 2]!++;
      else refusals.add(outcome);
    }
    await Promise.all([nothingLeft(first), nothingLeft(second)]);
    const budgets = await budgetsOf(first, project);
    expect(overIn(budgets)).toEqual([]);
    expect(budgets.flatMap(statesOf).map(({ held }) => held)).toEqual(
      budgets.flatMap(statesOf).map(() => NOTHING),
    );
  }
  expect(Math.min(...passed)).toBeGreaterThan(0);
  expect((await usedIn(first, project)).requests).toBe(passed[0]! + passed[1]!);
  expect([...refusals].filter((one) => !["402 budget_exceeded", "429 budget_held"].includes(one))).toEqual(
    [],
  );
});
