import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildApp, type App } from "../../src/app.ts";
import type { Engine, QueryOptions } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { readConfig, settingNames, type Config } from "../../src/config.ts";
import { openStore } from "../../src/open-store.ts";
import { sql, type Sql } from "../../src/query/sql.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { testConfig } from "../helpers/test-config.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");

/** The rows of the table below a heading, cell by cell. */
function tableOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    );
}

const FIXED: Readonly<Record<string, string>> = {
  CHAT_BODY_LIMIT_BYTES: "413",
  TRAINING_BODY_LIMIT_BYTES: "413",
  MAX_BODY_BYTES_IN_FLIGHT: "503",
  INGEST_MAX_PENDING_BYTES: "503",
  UPSTREAM_MAX_CONCURRENT: "429",
  MAX_EVENT_LOOP_DELAY_MS: "503",
  STORE_MAX_WAITING: "503",
  STORE_MAX_WAIT_MS: "503",
  MAX_TRACE_CALLS: "413",
  MAX_STATS_CALLS: "413",
  MAX_STATS_AGGREGATES: "413",
};
const settable = tableOf("Limits").map(([name = "", , , status = ""]) => [name, status] as const);
const limits = [...settable, ...Object.entries(FIXED)];
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-limits-"));
const project_id = "acme/limits";
let shared: Engine;
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  shared = await openStore(readConfig({ DATA_DIR: dataDir }));
  opened.push(shared);
  await migrate(shared, { cluster: undefined });
});
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The service with a few settings; `store` says what of its engine is not as usual. */
async function start(
  settings: Readonly<Record<string, string>>,
  store?: (config: Config) => Promise<Engine>,
) {
  const config = testConfig({ DATA_DIR: dataDir, ...settings });
  const engine = store === undefined ? shared : await store(config);
  const app = await buildApp(config, {
    engine,
    rootKey: ROOT_KEY,
    logger: pino({ level: "silent" }),
    lingerMs: 50,
  });
  opened.push(...(engine === shared ? [] : [engine]), app);
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app;
}

/** Over a real connection: half of the limits are about connections. */
async function post(app: App, url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const { port } = app.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${url}`, {
    method: "POST",
    headers: { authorization: authorization(), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(100_000),
  });
  await response.text();
  return { status: response.status, retryAfter: response.headers.get("retry-after") };
}

type Answer = Awaited<ReturnType<typeof post>>;

const bearer = { authorization: authorization(ROOT_KEY, "bearer") };
const long = "x".repeat(3000);
const day = { project_id, start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
const stats = (metrics: unknown) => ({ ...day, metrics });
const metric = (percentiles: readonly number[] = []) => ({
  json_path: "a",
  value_type: "numeric",
  percentiles,
});
const callStart = (id: string, more: object = {}) => ({
  start: {
    project_id,
    id,
    trace_id: "t",
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: {},
    attributes: {},
    ...more,
  },
});

/** The refusal among several answers that come at a time. */
function refusal(answers: readonly Answer[]): Answer | undefined {
  return answers.find((answer) => answer.status >= 400);
}

async function untilRefused(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  const end = performance.now() + 60_000;
  while (performance.now() < end) {
    const answer = await ask();
    if (answer.status >= 400) return answer;
    const busyUntil = performance.now() + 60;
    while (performance.now() < busyUntil);
    await new Promise(setImmediate);
  }
  return undefined;
}

const slow = sql`SELECT sum(sleepEachRow(0.1)) FROM numbers(300) SETTINGS max_block_size = 1, max_threads = 1`;
const hungry = sql`SELECT groupArray(toString(number)) FROM numbers(3000000)`;

/** The store that the settings name. What a route asks is something else there, within the same bounds; what jobs ask is not. */
function asking(question: Sql) {
  const ofRoute = ({ name, limits }: QueryOptions): boolean =>
    /^(usage|price)_/.test(name) && (limits === undefined || limits === "heavy");
  return async (config: Config): Promise<Engine> => {
    const engine = await openStore(config);
    return {
      ...engine,
      bytes: (query, format, options) => engine.bytes(ofRoute(options) ? question : query, format, options),
      rows: (query, options) => engine.rows(ofRoute(options) ? question : query, options),
    };
  };
}

async function withUpstream(ask: (url: string) => Promise<Answer | undefined>): Promise<Answer | undefined> {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  try {
    return await ask(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
}

const usage = (app: App) => post(app, "/trace/usage", { project_id });
const many = (count: number, ask: (n: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));

/** How each limit is met. */
const scenarios: Readonly<Record<string, () => Promise<Answer | undefined>>> = {
  BODY_LIMIT_BYTES: async () =>
    post(await start({ BODY_LIMIT_BYTES: "2000" }), "/trace/usage", { project_id, filler: long }),
  INGEST_BODY_LIMIT_BYTES: async () =>
    post(
      await start({ INGEST_BODY_LIMIT_BYTES: "2000" }),
      "/call/start",
      callStart("large", { op_name: long }),
    ),
  CHAT_BODY_LIMIT_BYTES: async () =>
    post(
      await start({ CHAT_BODY_LIMIT_BYTES: "2000", CHAT_UPSTREAM_URL: "http://127.0.0.1:9/v1" }),
      "/v1/chat/completions",
      { model: "m", messages: [{ role: "user", content: long }] },
      bearer,
    ),
  TRAINING_BODY_LIMIT_BYTES: () =>
    withUpstream(async (url) =>
      post(
        await start({ TRAINING_BODY_LIMIT_BYTES: "2000", TRAINING_UPSTREAM_URL: url }),
        "/v1/preview/training-jobs",
        { model: long },
        bearer,
      ),
    ),
  MAX_BODY_BYTES_IN_FLIGHT: async () =>
    post(
      await start({ MAX_BODY_BYTES_IN_FLIGHT: "2000" }),
      "/call/start",
      callStart("large", { op_name: long }),
    ),
  MAX_METRICS: async () =>
    post(await start({ MAX_METRICS: "1" }), "/feedback/stats", stats([metric(), metric()])),
  MAX_PERCENTILES: async () =>
    post(await start({ MAX_PERCENTILES: "1" }), "/feedback/stats", stats([metric([50, 95])])),
  async MAX_TRACE_CALLS() {
    const app = await start({ MAX_TRACE_CALLS: "1" });
    for (const id of ["one", "two"]) await post(app, "/call/start", callStart(id));
    return usage(app);
  },
  async MAX_STATS_CALLS() {
    const app = await start({ MAX_STATS_CALLS: "1" });
    for (const id of ["one", "two"]) await post(app, "/call/start", callStart(id));
    return post(app, "/usage/stats", day);
  },
  async MAX_STATS_AGGREGATES() {
    const app = await start({ MAX_STATS_AGGREGATES: "1" });
    for (const id of ["one", "two"]) await post(app, "/call/start", callStart(id, { op_name: id }));
    return post(app, "/usage/stats", { ...day, group_by: ["op_name"] });
  },
  async MIN_FREE_DISK_BYTES() {
    // the free space is read every second
    const app = await start({ MIN_FREE_DISK_BYTES: "1000000000000000" });
    return untilRefused(() => post(app, "/call/start", callStart("no-space")));
  },
  async RATE_LIMIT_PER_MINUTE() {
    const app = await start({ RATE_LIMIT_PER_MINUTE: "1" });
    expect((await usage(app)).status).toBe(200);
    return usage(app);
  },
  async KEY_MAX_CONCURRENT() {
    const app = await start({ KEY_MAX_CONCURRENT: "1" });
    const answers = await many(3, () => usage(app));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect((await usage(app)).status).toBe(200);
    return refusal(answers);
  },
  UPSTREAM_MAX_CONCURRENT: () =>
    withUpstream(async (url) => {
      const app = await start({ UPSTREAM_MAX_CONCURRENT: "1", CHAT_UPSTREAM_URL: url });
      const ask = () => post(app, "/v1/chat/completions", { model: "m", messages: [] }, bearer);
      return Promise.race([ask(), ask()]);
    }),
  async MAX_EVENT_LOOP_DELAY_MS() {
    const app = await start({ MAX_EVENT_LOOP_DELAY_MS: "1" });
    const answer = await untilRefused(() => usage(app));
    expect((await app.inject("/healthz")).statusCode).toBe(200);
    return answer;
  },
  async INGEST_MAX_PENDING_BYTES() {
    const app = await start({ INGEST_MAX_PENDING_BYTES: "4000" });
    return refusal(await many(3, (n) => post(app, "/call/start", callStart(`p${n}`, { op_name: long }))));
  },
  async STORE_MAX_CONCURRENT() {
    const app = await start(
      { STORE_MAX_CONCURRENT: "1", STORE_MAX_WAITING: "1", STORE_MAX_WAIT_MS: "1" },
      openStore,
    );
    return refusal(await many(20, () => usage(app)));
  },
  async STORE_MAX_WAITING() {
    const app = await start({ STORE_MAX_CONCURRENT: "1", STORE_MAX_WAITING: "1" }, openStore);
    return refusal(await many(20, () => usage(app)));
  },
  async STORE_MAX_WAIT_MS() {
    const app = await start({ STORE_MAX_CONCURRENT: "1", STORE_MAX_WAIT_MS: "1" }, openStore);
    return refusal(await many(20, () => usage(app)));
  },
  async QUERY_TIMEOUT_SECONDS() {
    const app = await start({ QUERY_TIMEOUT_SECONDS: "1" }, asking(slow));
    expect((await post(app, "/cost/query", { project_id })).status).toBe(504);
    return usage(app);
  },
  async QUERY_MEMORY_BYTES() {
    const app = await start({ QUERY_MEMORY_BYTES: "40000000" }, asking(hungry));
    expect((await post(app, "/cost/query", { project_id })).status).toBe(504);
    return usage(app);
  },
};

describe("docs/configuration.md", () => {
  it("names every setting once, with its default", () => {
    const documented = [...tableOf("Settings"), ...tableOf("Limits")].map(([name = "", value]) => [
      name,
      value,
    ]);
    const defaults = readConfig({}) as unknown as Readonly<
      Record<string, string | number | boolean | string[] | undefined>
    >;
    const actual = settingNames.map((name) => [name, String(defaults[name] ?? "")]);
    expect(documented).toHaveLength(actual.length);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual));
  });

  it("has a limit for every scenario, and a scenario for every limit", () => {
    expect(new Set(limits.map(([name]) => name))).toEqual(new Set(Object.keys(scenarios)));
  });

  it.each(limits)("%s: %s", async (name, status) => {
    const answer = await scenarios[name]!();
    expect(answer?.status).toBe(Number(status));
    if (status === "429" || status === "503") {
      expect(Number(answer?.retryAfter)).toBeGreaterThanOrEqual(1);
      expect(Number(answer?.retryAfter)).toBeLessThanOrEqual(59);
    }
  });
});
