import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let urls: readonly string[];
let url: string;
let asked = 0;
let nowMs = 0;

/** Counts what the checks ask the store: the disk is looked at besides, once a second. */
function counted(engine: Engine): Engine {
  const count = <Work>(work: Work): Work => {
    asked += 1;
    return work;
  };
  return {
    ...engine,
    rows: (query, options) =>
      options.name.startsWith("migrate_") ? count(engine.rows(query, options)) : engine.rows(query, options),
    health: () => count(engine.health()),
    version: () => count(engine.version()),
  };
}

beforeAll(async () => {
  test = await startApp({
    // the disk would be looked at every second
    settings: { MIN_FREE_DISK_BYTES: "0" },
    deps: { steady: { now: () => nowMs } },
    wrapEngine: counted,
  });
  url = await test.app.listen({ port: 0, host: "127.0.0.1" });
  urls = [
    "/openapi.json",
    "/docs",
    "/docs/",
    "/docs/static/swagger-ui.css",
    "/docs/static/swagger-ui-bundle.js",
  ];
});
afterAll(async () => {
  await test.close();
});

describe("health checks", () => {
  const everybody = async (): Promise<number> => {
    const before = asked;
    const paths = ["/readyz", "/readyz/reads", "/readyz/writes", "/healthz"];
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) => fetch(url + paths[at % paths.length]!)),
    );
    for (const answer of answers) expect([answer.status, await answer.text()]).toMatchObject([200, /ok/]);
    return asked - before;
  };

  it("query the store at most once per second, for any number of requests", async () => {
    const once = await everybody();
    // health, version and what is migrated
    expect(once).toBeGreaterThan(0);
    expect(once).toBeLessThan(6);
    nowMs += 999;
    expect(await everybody()).toBe(0);
    nowMs += 1;
    expect(await everybody()).toBe(once);
  });
});

describe("a public response", () => {
  it("needs no store query", async () => {
    const before = asked;
    for (const path of urls) expect([path, (await test.app.inject(path)).statusCode]).toEqual([path, 200]);
    expect(asked).toBe(before);
  });
});
