import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alertEventJson, slackMessageJson } from "../../../src/budgets/alerts/alert-event.ts";
import { crossedAlerts } from "../../../src/budgets/alerts/crossed-alerts.ts";
import { pauseMs, retryAfterMs } from "../../../src/budgets/alerts/retry-schedule.ts";
import type { Budget } from "../../../src/budgets/budget.ts";
import { DAY_START_MS, stateOf, USD, type Spending } from "../../helpers/budget-states.ts";

const none = { usd: null, tokens: null, requests: null };
const fractionsOf = (budget: Partial<Budget>, spending: Spending): number[] =>
  crossedAlerts([stateOf(budget, spending)]).map(({ fraction }) => fraction);

describe("a fraction of a limit", () => {
  it("is reached at its exact amount, also where doubles miss it", () => {
    const limit = { ...none, usd: 3n * USD };
    const alerts = [0.1];
    // 0.1 × 3 is 0.30000000000000004 in doubles
    expect(fractionsOf({ limit, alerts }, { spent: { usd: (3n * USD) / 10n } })).toEqual([0.1]);
    expect(fractionsOf({ limit, alerts }, { spent: { usd: (3n * USD) / 10n - 1n } })).toEqual([]);
  });

  it("is reached by whole amounts as in a calculation with whole percents", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 150 }),
        fc.integer({ min: 1, max: 1e12 }),
        fc.integer({ min: -1, max: 1 }),
        (percent, tokens, off) => {
          const spent = Number((BigInt(tokens) * BigInt(percent)) / 100n) + off;
          const reached = spent > 0 && BigInt(spent) * 100n >= BigInt(tokens) * BigInt(percent);
          const budget = { limit: { ...none, tokens }, alerts: [percent / 100] };
          expect(fractionsOf(budget, { spent: { tokens: spent } })).toEqual(reached ? budget.alerts : []);
        },
      ),
    );
  });

  it("is reached by any limited unit, and told of once, the lowest first", () => {
    const limit = { usd: 10n * USD, tokens: 100, requests: null };
    const states = [stateOf({ limit }, { spent: { usd: 5n * USD, tokens: 85, requests: 1e6 } })];
    expect(crossedAlerts(states).map(({ fraction, unit }) => [fraction, unit])).toEqual([
      [0.5, "usd"],
      [0.8, "tokens"],
    ]);
  });

  it("of a limit of 0 is reached once something is spent", () => {
    const limit = { ...none, requests: 0 };
    expect(fractionsOf({ limit }, {})).toEqual([]);
    expect(fractionsOf({ limit }, { held: { requests: 1 } })).toEqual([]);
    expect(fractionsOf({ limit }, { spent: { requests: 1 } })).toEqual([0.5, 0.8, 1]);
  });
});

it("an alert has an id for its budget, value, window, fraction and limit", () => {
  const spent = { usd: 10n * USD };
  const idsOf = (budget: Partial<Budget>, more: Spending = {}): string[] =>
    crossedAlerts([stateOf(budget, { spent, ...more })]).map(({ id }) => id);
  expect(idsOf({ name: "new", timezone: "Asia/Tokyo" }, { spent: { usd: 99n * USD } })).toEqual(idsOf({}));
  const others = [
    idsOf({}),
    idsOf({ id: "b2" }),
    idsOf({}, { value: "ada" }),
    idsOf({}, { day: 1 }),
    idsOf({ window: null }),
    idsOf({ limit: { ...none, usd: 9n * USD } }),
    idsOf({ limit: { usd: 10n * USD, tokens: 1, requests: null } }),
  ];
  const ids = others.flat();
  expect([ids.length, new Set(ids).size]).toEqual([7 * 3, 7 * 3]);
  for (const id of ids) expect(id).toMatch(/^msg_[\w-]{32}$/);
});

describe("an event", () => {
  const limit = { usd: 10n * USD, tokens: null, requests: 500 };
  const ada: Spending = {
    value: "ada",
    spent: { usd: 8n * USD + USD / 80n, tokens: 91_200, requests: 61 },
    held: { usd: USD / 4n, tokens: 4000, requests: 1 },
  };
  const jsonOf = (budget: Partial<Budget>, spending: Spending): string =>
    alertEventJson(crossedAlerts([stateOf({ alerts: [0.8], ...budget }, spending)])[0]!, DAY_START_MS + 3120);

  it("has amounts in full, its window and a message", () => {
    expect(JSON.parse(jsonOf({ name: "users", scope: "svc_user_id", limit }, ada))).toEqual({
      type: "budget.crossed",
      timestamp: "2026-11-29T00:00:03.120Z",
      data: {
        project_id: "acme/app",
        budget: { id: "b1", name: "users", scope: "svc_user_id", value: "ada" },
        fraction: 0.8,
        unit: "usd",
        limit: { usd: 10, tokens: null, requests: 500 },
        spent: { usd: 8.0125, tokens: 91_200, requests: 61 },
        held: { usd: 0.25, tokens: 4000, requests: 1 },
        window: { start: "2026-11-29T00:00:00.000Z", resets_at: "2026-11-30T00:00:00.000Z" },
        message:
          "Budget users of svc_user_id ada in acme/app has reached 80 %: 8.0125 of 10 usd. It resets at 2026-11-30T00:00:00.000Z.",
      },
    });
    expect(jsonOf({ limit }, { spent: { usd: 12_345_678_901n * USD + 1_000_000n } })).toContain(
      '"usd":12345678901.000000000001,',
    );
    expect(JSON.parse(jsonOf({ window: null, limit }, ada))).toMatchObject({
      data: { window: { start: "1970-01-01T00:00:00.000Z", resets_at: null } },
    });
  });

  it("is shorter than 20 kB with the longest names", () => {
    const long = "\u0001".repeat(512);
    const json = jsonOf({ name: long, project: long as Budget["project"] }, { ...ada, value: long });
    expect(Buffer.byteLength(json)).toBeLessThan(20_000);
  });

  it("mentions nobody in Slack, whatever users are called", () => {
    const text = slackMessageJson(jsonOf({ scope: "svc_user_id" }, { ...ada, value: '<!channel> & "co"' }));
    expect(Object.keys(JSON.parse(text))).toEqual(["text"]);
    expect(JSON.parse(text).text).toContain('svc_user_id &lt;!channel&gt; &amp; "co" in acme/app');
  });
});

describe("the schedule", () => {
  const hour = 3_600_000;
  it("is that of Standard Webhooks, with jitter, and ends after ten attempts", () => {
    const wanted = [5000, 300_000, 1_800_000, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    for (const [index, ms] of wanted.entries()) {
      const pauses = Array.from({ length: 50 }, () => pauseMs(index + 1, 0)!);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(ms);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(ms * 1.1);
      expect(new Set(pauses).size).toBeGreaterThan(10);
    }
    expect(pauseMs(10, 0)).toBeUndefined();
  });

  it.each([
    [null, 0],
    ["120", 120_000],
    ["Sun, 29 Nov 2026 00:01:00 GMT", 60_000],
    ["soon", 0],
    ["", 0],
  ])("reads retry-after %j", (header, ms) => expect(retryAfterMs(header, DAY_START_MS)).toBe(ms));

  it("waits as long as a receiver asks, but no shorter than scheduled, and at most a day", () => {
    expect(pauseMs(1, 120_000)).toBeGreaterThanOrEqual(120_000);
    expect(pauseMs(4, 1000)).toBeGreaterThanOrEqual(2 * hour);
    expect(pauseMs(1, 1e15)).toBeLessThanOrEqual(24 * hour * 1.1);
    expect(pauseMs(1, -5000)).toBeGreaterThanOrEqual(5000);
  });
});
