import { afterAll, beforeAll, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { MAX_EVENT_LOOP_DELAY_MS: "300" } });
});
afterAll(() => test.close());

const statusAfterMs = async (ms: number) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return (await test.post("/calls/query_stats", { project_id: "acme/a" })).status;
};
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("one long task is no overload: later requests are served", async () => {
  for (let turn = 0; turn < 2; turn++) {
    block(1_500);
    const statuses = [await statusAfterMs(0), await statusAfterMs(20), await statusAfterMs(300)];
    expect(statuses).toEqual([200, 200, 200]);
    await statusAfterMs(1_200);
  }
});

it("tasks that delay the event loop for several seconds are an overload", async () => {
  const seen = new Set<number>();
  for (let turn = 0; turn < 8 && !seen.has(503); turn++) {
    block(1_500);
    seen.add(await statusAfterMs(5));
  }
  expect(seen).toContain(503);
});
