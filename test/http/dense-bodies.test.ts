import type { FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLarge } from "../../src/http/bodies/large-body.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/dense";
/** Less than a mebibyte. */
const dense = `[${Array(340_000).fill("{}").join(",")}]`;
const idsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `018f0000-0000-7000-8000-${String(n).padStart(12, "0")}`);

describe("a body with very many values", () => {
  it.each([
    ["/calls/query_stats", `{"project_id":"${project_id}","filter":{"call_ids":${dense}}}`],
    ["/calls/usage", `{"project_id":"${project_id}","call_ids":${dense}}`],
    ["/feedback/query", `{"project_id":"${project_id}","fields":${dense}}`],
    ["/cost/create", `{"project_id":"${project_id}","costs":${dense}}`],
    ["/table/update", `{"project_id":"${project_id}","base_digest":"x","updates":${dense}}`],
  ])("is limited by its bytes where the event loop would parse it: %s", async (url, body) => {
    const response = await test.post(url, body);
    expect([response.status, response.json()]).toEqual([
      413,
      { detail: expect.stringContaining("values and keys") },
    ]);
  });

  it("is not a body with the longest lists of ids", async () => {
    const filter = { call_ids: idsOf(10_000), trace_ids: idsOf(10_000) };
    expect((await test.post("/calls/query_stats", { project_id, filter })).status).toBe(200);
  });

  it("is not a body with many rows of numbers", async () => {
    const made = await test.post("/table/create", { table: { project_id, rows: [] } });
    const row = { at: Array.from({ length: 1000 }, (_, n) => Math.sin(n)) };
    const updates = Array.from({ length: 150 }, () => ({ append: { row } }));
    const { digest } = made.json() as { digest: string };
    const body = { project_id, base_digest: digest, updates };
    expect((await test.post("/table/update", body)).status).toBe(200);
  });
});

describe("an ingest body parsed by the ingest worker", () => {
  const takes = { routeOptions: { config: { largeBodies: true } } } as FastifyRequest;
  it.each([
    ["few values", 64_000, 9_000, false],
    ["calls of a kilobyte", 950_000, 27_000, false],
    ["values of almost no bytes", 64_000, 20_000, true],
    ["many values", 2_000_000, 50_001, true],
    ["many bytes", 4_194_305, 100, true],
  ])("has %s: %i bytes of %i values, %s", (_what, bytes, values, large) => {
    expect(isLarge(takes, bytes, values)).toBe(large);
  });
});
