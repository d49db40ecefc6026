import fc from "fast-check";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface Issue {
  readonly loc: readonly unknown[];
  readonly msg: string;
  readonly type: string;
}

const MOST = 100;

describe("a request with many issues", () => {
  it("reports at most a hundred, and the number of others", async () => {
    const counts = fc.oneof(fc.integer({ min: 1, max: 250 }), fc.constantFrom(99, 100, 101));
    await fc.assert(
      fc.asyncProperty(counts, async (count) => {
        const call_ids = Array.from({ length: count }, () => 1);
        const response = await test.post("/calls/usage", { project_id: "a/b", call_ids });
        const { detail } = response.json() as { detail: readonly Issue[] };
        expect([response.status, detail.length]).toEqual([422, Math.min(count, MOST)]);
        const more = count > MOST ? [{ loc: ["body"], msg: `${count - MOST + 1} more issues` }] : [];
        expect(detail.filter(({ type }) => type === "too_many_issues")).toMatchObject(more);
      }),
      { seed: chosenSeed(), numRuns: 20 },
    );
  });

  it.each(["/feedback/batch/create", "/call/upsert_batch"])(
    "lists every rejected item of its batch, and describes a hundred issues: %s",
    async (url) => {
      const count = 2000;
      const sent = gzipSync(JSON.stringify({ batch: Array.from({ length: count }, () => ({})) }));
      const response = await test.app.inject({
        method: "POST",
        url,
        headers: {
          authorization: authorization(),
          "content-type": "application/json",
          "content-encoding": "gzip",
        },
        payload: sent,
      });
      type Rejected = { readonly index: number; readonly detail: string | readonly Issue[] };
      const { rejected } = response.json<{ rejected: readonly Rejected[] }>();
      expect(rejected.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, at) => at));
      const described = rejected.flatMap(({ detail }) => (typeof detail === "string" ? [] : detail));
      expect(described.length).toBeGreaterThanOrEqual(MOST);
      expect(described.length).toBeLessThan(MOST + 20);
      expect(response.rawPayload.length).toBeLessThan(150 * count);
    },
  );
});
