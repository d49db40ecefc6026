import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { buildPage } from "../helpers/build-page.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let dir: string;
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
  dir = await buildPage();
  test = await startApp({
    // the disk would be looked at every second
    settings: { MIN_FREE_DISK_BYTES: "0" },
    deps: { pageDir: dir, steady: { now: () => nowMs } },
    wrapEngine: counted,
  });
  url = await test.app.listen({ port: 0, host: "127.0.0.1" });
  const assets = readdirSync(join(dir, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
  const docs = ["", "/", "/static/swagger-ui.css", "/static/swagger-ui-bundle.js"];
  urls = [
    "/",
    ...assets.map((name) => `/assets/${name}`),
    "/openapi.json",
    ...docs.map((path) => `/docs${path}`),
    "/docs/static/swagger-initializer.js",
  ];
});
afterAll(async () => {
  await test.close();
  rmSync(dir, { recursive: true });
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
  const get = (path: string, headers: Record<string, string> = {}) => test.app.inject({ url: path, headers });
  const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    br: (bytes) => brotliDecompressSync(bytes),
    gzip: (bytes) => gunzipSync(bytes),
    identity: (bytes) => bytes,
  };
  const accepted = {
    "gzip, deflate, br": "br",
    "br;q=0, gzip": "gzip",
    "br;q=0.1, gzip;q=0.5": "br",
    gzip: "gzip",
    "*": "br",
    identity: "identity",
    deflate: "identity",
    "br;q=0, gzip;q=0": "identity",
    "": "identity",
    ";;,q=": "identity",
  };

  it("has the smallest encoding that the client accepts, and the same content in each", async () => {
    for (const path of urls) {
      const plain = await get(path);
      expect([path, plain.statusCode, plain.headers["content-encoding"]]).toEqual([path, 200, undefined]);
      for (const [accept, encoding] of Object.entries(accepted)) {
        const { headers, rawPayload } = await get(path, { "accept-encoding": accept });
        expect([path, accept, headers["content-encoding"] ?? "identity"]).toEqual([path, accept, encoding]);
        expect(decoders[encoding]!(rawPayload).equals(plain.rawPayload)).toBe(true);
        expect(headers).toMatchObject({
          vary: "accept-encoding",
          "content-type": plain.headers["content-type"],
          "content-length": String(rawPayload.length),
        });
      }
    }
  });

  it("is not sent again to a client that has it in that encoding", async () => {
    for (const path of urls) {
      const [br, gzip] = await Promise.all(
        ["br", "gzip"].map((encoding) => get(path, { "accept-encoding": encoding })),
      );
      const tag = String(br!.headers["etag"]);
      expect(tag).not.toBe(gzip!.headers["etag"]);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const again = await get(path, { "accept-encoding": "br", "if-none-match": known });
        expect([path, again.statusCode, again.payload]).toEqual([path, 304, ""]);
        expect(again.headers).toMatchObject({ etag: tag, vary: "accept-encoding" });
      }
      const other = await get(path, { "accept-encoding": "gzip", "if-none-match": tag });
      expect([path, other.statusCode]).toEqual([path, 200]);
    }
  });

  it("needs no store query", async () => {
    const before = asked;
    for (const path of urls) await get(path);
    expect(asked).toBe(before);
  });
});
