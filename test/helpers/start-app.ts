import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp, type App, type Deps } from "../../src/app.ts";
import type { Engine } from "../../src/store/engine.ts";
import type { Config } from "../../src/config.ts";
import { watchResponses } from "./described-responses.ts";
import { openProcessEngine, type TestEngine } from "./process-engine.ts";
import { testConfig } from "./test-config.ts";
import { hasExternalStore, externalStoreSettings, openExternalStore } from "./external-store.ts";

export type { TestEngine } from "./process-engine.ts";

export const ROOT_KEY = "st_test00000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

/** An empty store: in the engine of this process, or a database of its own in the store that the environment names. */
export async function startEngine(): Promise<TestEngine> {
  if (!hasExternalStore) return openProcessEngine();
  const dir = mkdtempSync(join(tmpdir(), "sumtree-test-"));
  const store = await openExternalStore();
  return {
    engine: store.engine,
    dir,
    async close() {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface TestApp extends Omit<TestEngine, "dir"> {
  readonly app: App;
  readonly config: Config;
  /** POSTs JSON with the root key as Basic; `key` and `scheme` to be somebody else. */
  post(url: string, body: unknown, as?: { key?: string; scheme?: "basic" | "bearer" }): Promise<TestResponse>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- assertions look into answers of any shape
  json(): any;
}

export interface StartOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly deps?: Partial<Deps>;
  /** The engine as the service sees it; the tests look into the store past it. */
  readonly wrapEngine?: (engine: Engine) => Engine;
}

/** The service as shipped, on the embedded engine. */
export async function startApp(options: StartOptions = {}): Promise<TestApp> {
  const test = await startEngine();
  const running = await startAppOn(test.engine, {
    ...options,
    settings: { DATA_DIR: test.dir, ...options.settings },
  });
  return {
    ...running,
    async close() {
      await running.close();
      await test.close();
    },
  };
}

/** The same on an engine that is open already, and stays open: for several replicas of the service. */
export async function startAppOn(engine: Engine, options: StartOptions = {}): Promise<TestApp> {
  const config = testConfig({
    LOG_LEVEL: "silent",
    // tests share the event loop with the service, and the machine with each other
    MAX_EVENT_LOOP_DELAY_MS: "60000",
    ...externalStoreSettings(ROOT_KEY),
    ...options.settings,
  });
  const deps: Deps = {
    engine: options.wrapEngine?.(engine) ?? engine,
    rootKey: ROOT_KEY,
    logger: pino({ level: "silent" }),
    lingerMs: 1,
    ...options.deps,
  };
  const app = await buildApp(config, deps);
  const undescribed = watchResponses(app);
  return {
    app,
    config,
    engine,
    async post(url, body, { key = ROOT_KEY, scheme = "basic" } = {}) {
      const response = await app.inject({
        method: "POST",
        url,
        headers: { authorization: authorization(key, scheme), "content-type": "application/json" },
        payload: typeof body === "string" ? body : JSON.stringify(body),
      });
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.payload,
        json: () => JSON.parse(response.payload) as unknown,
      };
    },
    async close() {
      await app.close();
      if (undescribed.size > 0)
        throw new Error(`Not as openapi.json has it:\n${[...undescribed].join("\n")}`);
    },
  };
}

export function authorization(key: string = ROOT_KEY, scheme: "basic" | "bearer" = "basic"): string {
  return scheme === "bearer" ? `Bearer ${key}` : `Basic ${Buffer.from(`api:${key}`).toString("base64")}`;
}
