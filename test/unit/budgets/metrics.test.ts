import { Registry } from "prom-client";
import { expect, it } from "vitest";
import type { BudgetState } from "../../../src/budgets/budget-state.ts";
import { registerBudgetMetrics, type DaySpend } from "../../../src/budgets/metrics.ts";
import { stateOf, USD } from "../../helpers/budget-states.ts";

function metricsOf() {
  const registry = new Registry();
  const store = {
    nowMs: 0,
    reads: 0,
    states: [] as BudgetState[],
    spends: new Map<string, DaySpend>(),
    away: undefined as Promise<never> | undefined,
  };
  const read = registerBudgetMetrics(
    registry,
    {
      states: async () => {
        store.reads++;
        await store.away;
        return store.states;
      },
      spendOf: async () => store.spends,
    },
    { now: () => store.nowMs },
  );
  /** A scrape two seconds after the last. */
  const scrape = async (): Promise<string[]> => {
    store.nowMs += 2000;
    const text = await registry.metrics();
    return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  };
  return { registry, store, read, scrape };
}

const spendOf = (dayStartUs: number, ...usd: (readonly [string, number])[]): Map<string, DaySpend> =>
  new Map(usd.map(([project, dollars]) => [project, { dayStartUs, usd: BigInt(dollars) * USD }]));

it("gauges have limit, spent and held of each budget, of many values the one that has spent the most", async () => {
  const { store, scrape } = metricsOf();
  const limit = { usd: 10n * USD, tokens: 100, requests: null };
  const users = { id: "users", limit };
  store.states = [
    stateOf(users, { value: "a", spent: { usd: USD, tokens: 90, requests: 2 }, held: { tokens: 5 } }),
    stateOf(users, { value: "b", spent: { usd: 2n * USD + USD / 2n, tokens: 3 }, held: { usd: USD } }),
    stateOf({ id: "all" }, {}),
  ];
  expect((await scrape()).toSorted()).toEqual(
    [
      'sumtree_budget_limit{budget="users",unit="usd"} 10',
      'sumtree_budget_limit{budget="users",unit="tokens"} 100',
      'sumtree_budget_limit{budget="all",unit="usd"} 10',
      'sumtree_budget_spent{budget="users",unit="usd"} 2.5',
      'sumtree_budget_spent{budget="users",unit="tokens"} 90',
      'sumtree_budget_spent{budget="users",unit="requests"} 2',
      'sumtree_budget_held{budget="users",unit="usd"} 1',
      'sumtree_budget_held{budget="users",unit="tokens"} 5',
      'sumtree_budget_held{budget="users",unit="requests"} 0',
      ...["usd", "tokens", "requests"].flatMap((unit) => [
        `sumtree_budget_spent{budget="all",unit="${unit}"} 0`,
        `sumtree_budget_held{budget="all",unit="${unit}"} 0`,
      ]),
    ].toSorted(),
  );
  store.states = [];
  expect(await scrape()).toEqual([]);
});

it("are read once a second, for all metrics together", async () => {
  const { store, scrape, registry } = metricsOf();
  await scrape();
  await Promise.all([registry.metrics(), registry.metrics()]);
  expect(store.reads).toBe(1);
  await Promise.all([scrape(), registry.metrics()]);
  expect(store.reads).toBe(2);
});

it("the counter has what is spent from the start on, over days, and never falls", async () => {
  const { store, scrape, read } = metricsOf();
  const total = async (): Promise<string[]> => (await scrape()).filter((line) => line.includes("spend"));
  store.spends = spendOf(0, ["p", 7]);
  await read();
  const line = (project: string, dollars: number) =>
    `sumtree_spend_usd_total{project="${project}"} ${dollars}`;
  expect(await total()).toEqual([line("p", 0)]);
  store.spends = spendOf(0, ["p", 9]);
  expect(await total()).toEqual([line("p", 2)]);
  // a deletion, and as much again
  store.spends = spendOf(0, ["p", 4]);
  expect(await total()).toEqual([line("p", 2)]);
  store.spends = spendOf(0, ["p", 10], ["q", 1]);
  expect(await total()).toEqual([line("p", 3), line("q", 1)]);
  store.spends = spendOf(1, ["p", 5]);
  expect(await total()).toEqual([line("p", 8), line("q", 1)]);
});

it("a store that is away neither fails nor delays a scrape, and the counter stays", async () => {
  const { store, scrape } = metricsOf();
  store.states = [stateOf({}, { spent: { usd: USD } })];
  store.spends = spendOf(0, ["p", 1]);
  await scrape();
  store.away = Promise.reject(new Error("away"));
  expect(await scrape()).toEqual(['sumtree_spend_usd_total{project="p"} 0']);
  store.away = undefined;
  const whole = await scrape();
  expect(whole).toHaveLength(8);
  store.away = new Promise(() => {});
  expect(await scrape()).toEqual(whole);
});
