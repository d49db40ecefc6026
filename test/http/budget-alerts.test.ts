import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Fastify, { type FastifyBaseLogger } from "fastify";
import OpenAI from "openai";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { registerBudgetJobs } from "../../src/budget-jobs.ts";
import { createAlertJob } from "../../src/budgets/alerts/alert-job.ts";
import { createAlertStore } from "../../src/budgets/alerts/alert-store.ts";
import { createDeliveries } from "../../src/budgets/alerts/deliveries.ts";
import { createWebhook, type WebhookSettings } from "../../src/budgets/alerts/webhook.ts";
import type { BudgetState } from "../../src/budgets/budget-state.ts";
import { sql } from "../../src/query/sql.ts";
import { systemClock } from "../../src/shared/clock.ts";
import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { DAY_START_MS, stateOf, USD, type Spending } from "../helpers/budget-states.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";
import { testConfig } from "../helpers/test-config.ts";
import { until } from "../helpers/until.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../helpers/webhook-receiver.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;

let test: TestEngine;
let receiver: WebhookReceiver;
beforeAll(async () => {
  test = await startEngine();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.close();
  await test.close();
});

/** The time and the sums of all services. */
let nowMs = 0;
let states: readonly BudgetState[] = [];
let budgets = 0;
let id = "";
beforeEach(async () => {
  await test.engine.command(sql`TRUNCATE TABLE budget_alerts SYNC`, { name: "test", tables: "per_shard" });
  receiver.received.length = 0;
  receiver.answer = (response) => void response.end();
  nowMs = DAY_START_MS + HOUR_MS;
  id = `budget ${++budgets}`;
});

/** The sums from now on, of a budget of each test's own. */
function spend(...all: readonly Spending[]): void {
  states = all.map((one) => stateOf({ id }, one));
}
const usd = (dollars: number) => ({ usd: BigInt(dollars * 100) * (USD / 100n) });

interface Options {
  readonly owner?: string;
  readonly engine?: Engine;
  readonly settings?: Partial<WebhookSettings>;
  readonly wait?: () => Promise<unknown>;
}

/** A service of the store: what `budget-jobs.ts` makes of it, without its timer. */
function service({ owner = "a", engine = test.engine, settings, wait = async () => {} }: Options = {}) {
  const clock = { now: () => nowMs };
  const store = createAlertStore(engine);
  const logged: object[] = [];
  const outcomes: string[] = [];
  const closing = new AbortController();
  const webhook = { url: receiver.url, secrets: [secretOf(1)], format: "standard" as const, ...settings };
  const deliveries = createDeliveries({
    store,
    send: createWebhook(webhook, clock),
    clock,
    log: { warn: (details) => void logged.push(details) },
    onOutcome: (outcome) => void outcomes.push(outcome),
    signal: closing.signal,
  });
  const run = createAlertJob({ states: async () => states, store, deliveries, owner, clock, wait });
  const idle = (): Promise<void> => deliveries.idle();
  const tick = async (): Promise<void> => {
    await run();
    await idle();
  };
  return { run, idle, tick, logged, outcomes, close: () => closing.abort() };
}

async function stored(): Promise<readonly { state: string; attempts: number }[]> {
  const rows = await test.engine.rows<{ budget_id: string; state: string; attempts: number }>(
    sql`SELECT budget_id, state, attempts FROM budget_alerts FINAL ORDER BY fraction`,
    { name: "test" },
  );
  return rows.filter((row) => row.budget_id === id).map(({ state, attempts }) => ({ state, attempts }));
}

/** OpenAI's own verification of webhooks; `tolerance` in seconds, because the clock is played. */
function verify(body: string, headers: object, secret: string): Promise<void> {
  const { webhooks } = new OpenAI({ apiKey: "none" });
  return webhooks.verifySignature(body, headers as Record<string, string>, secret, 1e12);
}

describe("an alert", () => {
  it("is told once over restarts and later sums, fraction by fraction, and again in the next window", async () => {
    spend({ spent: usd(4.99) });
    await service().tick();
    expect(receiver.received).toEqual([]);
    spend({ spent: usd(5) });
    await service().tick();
    expect(receiver.fractions()).toEqual([0.5]);
    for (const dollars of [5, 3, 6, 7.99]) {
      spend({ spent: usd(dollars) });
      const restarted = service();
      await restarted.tick();
      await restarted.tick();
    }
    expect(receiver.fractions()).toEqual([0.5]);
    spend({ spent: usd(25) });
    await service().tick();
    expect(receiver.fractions()).toEqual([0.5, 0.8, 1]);
    spend({ spent: usd(9), day: 1 });
    await service().tick();
    expect(receiver.fractions()).toEqual([0.5, 0.8, 1, 0.5, 0.8]);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(5);
  });

  it("is told of each value, and anew of a changed limit", async () => {
    spend({ value: "ada", spent: usd(5) }, { value: "bob", spent: usd(1) }, { value: "cy", spent: usd(6) });
    await service().tick();
    const values = receiver.received.map(({ body }) => JSON.parse(body).data.budget.value as string);
    expect(values.toSorted()).toEqual(["ada", "cy"]);
    const limit = { usd: 8n * USD, tokens: null, requests: null };
    states = [stateOf({ id, limit }, { value: "ada", spent: usd(5) })];
    await service().tick();
    expect(JSON.parse(receiver.received[2]!.body)).toMatchObject({
      data: { budget: { value: "ada" }, fraction: 0.5, limit: { usd: 8 } },
    });
  });

  it("is signed with every secret, and a forged one is rejected", async () => {
    spend({ spent: usd(5) });
    await service({ settings: { secrets: [secretOf(1), secretOf(2)] } }).tick();
    const [{ body, headers }] = receiver.received as [WebhookReceiver["received"][0]];
    for (const secret of [1, 2]) await verify(body, headers, secretOf(secret));
    await expect(verify(body, headers, secretOf(3))).rejects.toThrow();
    await expect(verify(body.replace("0.5", "0.6"), headers, secretOf(1))).rejects.toThrow();
    for (const name of ["webhook-id", "webhook-timestamp"])
      await expect(verify(body, { ...headers, [name]: "1" }, secretOf(1))).rejects.toThrow();
    expect(headers["webhook-timestamp"]).toBe(String(nowMs / 1000));
    expect(headers["content-type"]).toBe("application/json");
  });

  it("is verified by the function of docs/budgets.md", async () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/budgets.md"), "utf8");
    const path = join(test.dir, "is-authentic.ts");
    writeFileSync(path, `${/```ts\n([^]*?)```/.exec(page)![1]}export { isAuthentic };`);
    const { isAuthentic } = (await import(path)) as {
      isAuthentic: (body: string, headers: object, secret: string) => boolean;
    };
    spend({ spent: usd(5) });
    await service({ settings: { secrets: [secretOf(1), secretOf(2)] } }).tick();
    const [{ body, headers }] = receiver.received as [WebhookReceiver["received"][0]];
    expect([1, 2, 3].map((byte) => isAuthentic(body, headers, secretOf(byte)))).toEqual([true, true, false]);
    expect(isAuthentic(`${body} `, headers, secretOf(1))).toBe(false);
  });

  it("is a message for Slack, without a signature", async () => {
    spend({ spent: usd(5) });
    await service({ settings: { format: "slack", secrets: [] } }).tick();
    const [{ body, headers }] = receiver.received as [WebhookReceiver["received"][0]];
    expect(JSON.parse(body)).toEqual({
      text: expect.stringMatching(/^Budget budget \d+ in acme\/app has reached 50 %: 5 of 10 usd\. /),
    });
    expect(headers).not.toHaveProperty("webhook-signature");
  });
});

describe("a receiver", () => {
  it("that is away for a day gets the alert afterwards, once, also over restarts", async () => {
    spend({ spent: usd(5) });
    const beganMs = nowMs;
    receiver.answer = (response) => void response.writeHead(503).end();
    const attemptsMs: number[] = [];
    let delivered = false;
    for (let ticks = 0; nowMs < beganMs + 60 * HOUR_MS; ticks++) {
      const before = receiver.received.length;
      if (nowMs > beganMs + 24 * HOUR_MS) receiver.answer = (response) => void response.end();
      await service({ owner: ticks < 100 ? "a" : "b" }).tick();
      expect(receiver.received.length - before).toBeLessThanOrEqual(1);
      if (receiver.received.length > before) attemptsMs.push(nowMs - beganMs);
      delivered ||= nowMs > beganMs + 24 * HOUR_MS && receiver.received.length > before;
      nowMs += ticks < 30 ? 10 * SECOND_MS : 30 * MINUTE_MS;
    }
    expect(delivered).toBe(true);
    expect(attemptsMs.slice(0, 2)).toEqual([0, 10 * SECOND_MS]);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(attemptsMs).toHaveLength(8);
    expect(await stored()).toEqual([{ state: "delivered", attempts: 8 }]);
    const timestamps = receiver.received.map(({ headers }) => headers["webhook-timestamp"]);
    expect(new Set(timestamps).size).toBe(8);
  });

  it("that is never there fails for good after ten attempts", async () => {
    spend({ spent: usd(5) });
    const closed = await startWebhookReceiver();
    await closed.close();
    const away = service({ settings: { url: closed.url } });
    for (let attempt = 0; attempt < 15; attempt++) {
      await away.tick();
      nowMs += 30 * HOUR_MS;
    }
    expect(away.outcomes).toEqual([...Array.from({ length: 9 }, () => "retried"), "failed"]);
    expect(await stored()).toEqual([{ state: "failed", attempts: 10 }]);
    expect(JSON.stringify(away.logged)).toContain('"problem":"ECONNREFUSED"');
    expect(JSON.stringify(away.logged)).not.toMatch(/s3cret|whsec/);
  });

  it("that is gone (410) gets nothing more of an alert", async () => {
    spend({ spent: usd(5) });
    receiver.answer = (response) => void response.writeHead(410).end();
    for (let tick = 0; tick < 3; tick++) {
      await service().tick();
      nowMs += 25 * HOUR_MS;
    }
    expect(receiver.received).toHaveLength(1);
    expect(await stored()).toEqual([{ state: "failed", attempts: 1 }]);
  });

  it("that redirects has failed, and nothing is sent elsewhere", async () => {
    spend({ spent: usd(5) });
    receiver.answer = (response) => void response.writeHead(307, { location: "/elsewhere" }).end();
    const redirected = service();
    await redirected.tick();
    expect(redirected.outcomes).toEqual(["retried"]);
    expect(redirected.logged).toMatchObject([{ problem: "307" }]);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hooks/s3cret-path"]);
  });

  it("that asks for a pause gets it, but not after other errors", async () => {
    for (const [status, pauseMs] of [
      [429, 90 * SECOND_MS],
      [502, 90 * SECOND_MS],
      [504, 90 * SECOND_MS],
      [500, 5 * SECOND_MS],
    ] as const) {
      receiver.received.length = 0;
      id = `budget ${++budgets}`;
      spend({ spent: usd(5) });
      receiver.answer = (response) => void response.writeHead(status, { "retry-after": "90" }).end();
      await service().tick();
      nowMs += pauseMs - 1;
      await service().tick();
      expect([status, receiver.received.length]).toEqual([status, 1]);
      nowMs += pauseMs * 0.1 + 1;
      await service().tick();
      expect([status, receiver.received.length]).toEqual([status, 2]);
    }
  });

  it("that talks without end, or hangs, delays no alert of others", async () => {
    receiver.answer = (response) => {
      response.writeHead(200);
      const talk = (): void => void response.write("x".repeat(65_536), talk);
      talk();
    };
    spend({ spent: usd(5) });
    await service().tick();
    expect(await stored()).toEqual([{ state: "delivered", attempts: 1 }]);

    let hung = 0;
    receiver.answer = (response) => {
      if (++hung > 1) response.end();
    };
    const running = service();
    const [first, other] = [`budget ${budgets + 1}`, `budget ${budgets + 2}`];
    budgets += 2;
    states = [stateOf({ id: first }, { spent: usd(5) })];
    await running.run();
    await until(() => hung === 1);
    states = [...states, stateOf({ id: other }, { spent: usd(5) })];
    await running.run();
    await until(() => running.outcomes.length === 1);
    expect(receiver.received).toHaveLength(3);
    running.close();
    await running.idle();
    id = first;
    expect(await stored()).toEqual([{ state: "pending", attempts: 0 }]);
  });
});

describe("several services on one store", () => {
  /** The engine as it is where others may write. */
  const shared = (): Engine => ({ ...test.engine, writeCountOf: () => undefined });

  it("send an alert once if they find it at the same time", async () => {
    spend({ spent: usd(10) });
    let [claiming, waiting] = [0, 0];
    const engine: Engine = {
      ...shared(),
      async insert(...args) {
        if (args[0] === "budget_alerts" && ++claiming <= 2) await until(() => claiming === 2);
        await test.engine.insert(...args);
      },
    };
    const wait = async (): Promise<void> => {
      waiting++;
      await until(() => waiting === 2);
    };
    const both = ["a", "b"].map((owner) => service({ owner, engine, wait }));
    await Promise.all(both.map((one) => one.tick()));
    expect(receiver.fractions()).toEqual([0.5, 0.8, 1]);
    expect(await stored()).toEqual(Array.from({ length: 3 }, () => ({ state: "delivered", attempts: 1 })));
    expect(both.flatMap(({ outcomes }) => outcomes)).toHaveLength(3);
  });

  it("take over what another has not sent for minutes; that one goes on at once if it comes back", async () => {
    for (const comesBack of [true, false]) {
      receiver.received.length = 0;
      id = `budget ${++budgets}`;
      spend({ spent: usd(5) });
      const killed = service({ engine: shared() });
      killed.close();
      await killed.tick();
      expect(await stored()).toEqual([{ state: "pending", attempts: 0 }]);
      nowMs += 30 * SECOND_MS;
      await service({ owner: "b", engine: shared() }).tick();
      expect(receiver.received).toHaveLength(0);
      if (!comesBack) nowMs += 3 * MINUTE_MS;
      await service({ owner: comesBack ? "a" : "b", engine: shared() }).tick();
      expect(receiver.received).toHaveLength(1);
      nowMs += HOUR_MS;
      for (const owner of ["a", "b"]) await service({ owner, engine: shared() }).tick();
      expect(receiver.received).toHaveLength(1);
    }
  });
});

describe("a store", () => {
  it("that is away when an alert is delivered gets the result later, and the receiver nothing twice", async () => {
    spend({ spent: usd(5) });
    let inserts = 0;
    const engine: Engine = {
      ...test.engine,
      async insert(table, rows, options) {
        if (++inserts === 2) throw new StorageError("unavailable", options.name, undefined, "");
        await test.engine.insert(table, rows, options);
      },
    };
    const running = service({ engine });
    await running.tick();
    expect(await stored()).toEqual([{ state: "pending", attempts: 0 }]);
    expect(running.logged).toMatchObject([{ err: { kind: "unavailable" } }]);
    await running.tick();
    expect(await stored()).toEqual([{ state: "delivered", attempts: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  it("that read an alert before its result was stored does not make it sent again", async () => {
    spend({ spent: usd(5) });
    let respond = (): void => {};
    receiver.answer = (response) => (respond = () => void response.end());
    let release: (() => void) | undefined;
    let hold = false;
    const engine: Engine = {
      ...test.engine,
      async rows<Row>(...args: Parameters<Engine["rows"]>) {
        const rows = await test.engine.rows<Row>(...args);
        if (hold && args[1].name === "budget_alerts_pending")
          await new Promise<void>((resolve) => (release = resolve));
        return rows;
      },
    };
    const running = service({ engine });
    await running.run();
    await until(() => receiver.received.length === 1);
    hold = true;
    const second = running.run();
    await until(() => release !== undefined);
    respond();
    await running.idle();
    release!();
    await second;
    await running.idle();
    expect(receiver.received).toHaveLength(1);
  });
});

describe("the service", () => {
  const lines: string[] = [];
  const start = async (settings: Readonly<Record<string, string>>) => {
    const logger: FastifyBaseLogger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
    const app = Fastify({ loggerInstance: logger });
    const registry = new Registry();
    registerBudgetJobs(app, testConfig({ DATA_DIR: test.dir, ...settings }), {
      spending: { renewClaims: async () => undefined },
      engine: test.engine,
      registry,
      clock: systemClock,
      steady: systemClock,
      states: async () => states,
      spendOf: async () => new Map(),
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { app, metrics: () => registry.metrics() };
  };

  it("sends alerts where ALERT_WEBHOOK_URL is set, and stores none without it", async () => {
    spend({ spent: usd(5) });
    const silent = await start({});
    await silent.app.close();
    expect(await stored()).toEqual([]);

    const settings = { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: secretOf(1) };
    const { app, metrics } = await start(settings);
    expect(await metrics()).toContain('sumtree_budget_alerts_total{outcome="failed"} 0');
    await until(async () => (await stored())[0]?.state === "delivered");
    await verify(receiver.received[0]!.body, receiver.received[0]!.headers, secretOf(1));
    expect(await metrics()).toContain('sumtree_budget_alerts_total{outcome="delivered"} 1');
    expect(await metrics()).toContain(`sumtree_budget_spent{budget="${id}",unit="usd"} 5`);
    await app.close();
    expect(lines.join("\n")).not.toMatch(/s3cret|whsec|failed/);
  });
});
