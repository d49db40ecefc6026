import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage } from "../helpers/build-page.ts";
import { startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const FIRST_LOAD_BYTES = 180_000;

let dir: string;
let test: TestApp;
let assets: readonly string[];
beforeAll(async () => {
  dir = await buildPage();
  test = await startApp({ deps: { pageDir: dir } });
  assets = readdirSync(join(dir, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
});
afterAll(async () => {
  await test.close();
});

const get = (url: string, headers: Record<string, string> = {}) => test.app.inject({ url, headers });

/** Returns the assets of the first load. */
function firstLoad(html: string): readonly string[] {
  return [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((match) => match[1]!);
}

describe("the web UI", () => {
  it("is served at / without a key, and not cached", async () => {
    const page = await get("/");
    expect(page.statusCode).toBe(200);
    expect(page.headers).toMatchObject({
      "content-type": expect.stringContaining("text/html"),
      "cache-control": "no-cache",
      etag: expect.any(String),
    });
    const again = await get("/", { "if-none-match": String(page.headers["etag"]) });
    expect([again.statusCode, again.payload]).toEqual([304, ""]);
    const head = await test.app.inject({ method: "HEAD", url: "/" });
    expect([head.statusCode, head.payload]).toEqual([200, ""]);
  });

  it("can load only its own files", async () => {
    for (const url of ["/", ...assets.map((name) => `/assets/${name}`)]) {
      const { statusCode, headers } = await get(url);
      expect([url, statusCode]).toEqual([url, 200]);
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/require-trusted-types-for 'script'; trusted-types trace-worker$/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      });
    }
    const html = (await get("/")).payload;
    expect(html).not.toMatch(/https?:\/\/|<script(?![^>]* src=)|<style|\bon\w+=/);
  });

  it("has files that are cached for a year, and named by their content", async () => {
    expect(assets.length).toBeGreaterThan(1);
    for (const name of assets) {
      expect(name).toMatch(/-[\w-]{8}\.\w+$/);
      const { headers } = await get(`/assets/${name}`);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    }
  });

  it("is served compressed, as built", async () => {
    const name = assets.find((one) => one.endsWith(".js"))!;
    const plain = readFileSync(join(dir, "assets", name));
    const zipped = await get(`/assets/${name}`, { "accept-encoding": "gzip" });
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(gunzipSync(zipped.rawPayload)).toEqual(plain);
    expect((await get(`/assets/${name}`)).rawPayload).toEqual(plain);
    const small = await get(`/assets/${name}`, { "accept-encoding": "br, gzip" });
    expect(small.headers["content-encoding"]).toBe("br");
  });

  it(`loads at most ${FIRST_LOAD_BYTES / 1000} kB at first`, async () => {
    const html = await get("/", { "accept-encoding": "gzip" });
    const files = await Promise.all(
      firstLoad((await get("/")).payload).map((url) => get(`/${url}`, { "accept-encoding": "gzip" })),
    );
    expect(files.length).toBeGreaterThanOrEqual(3);
    const bytes = [html, ...files].reduce((sum, { rawPayload }) => sum + rawPayload.length, 0);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
  });

  it("has no other files", async () => {
    for (const url of ["/assets/", "/assets/..%2f..%2fpackage.json", "/assets/x.js", "/index.html", "/built"])
      expect([url, (await get(url)).statusCode]).toEqual([url, 404]);
  });

  it("explains what to do if it was not built", async () => {
    const empty = mkdtempSync(join(tmpdir(), "sumtree-no-page-"));
    const bare = await startAppOn(test.engine, { deps: { pageDir: empty } });
    const response = await bare.app.inject("/");
    expect([response.statusCode, response.json()]).toEqual([
      404,
      { detail: expect.stringContaining("npm run build:page") },
    ]);
    await bare.close();
    rmSync(empty, { recursive: true });
  });
});

describe("/docs", () => {
  it("can load nothing from other hosts", async () => {
    for (const url of ["/docs/", "/docs/static/swagger-initializer.js"]) {
      const { headers, payload } = await get(url);
      expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
      expect(payload).not.toContain("validator.swagger.io");
    }
  });
});
