import { afterAll, beforeAll, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

it("a request stores calls of more months than ClickHouse takes in an insert by default", async () => {
  const project_id = "acme/months";
  const instant = (month: number): string => new Date(Date.UTC(2015, month, 3, 4)).toISOString();
  const batch = Array.from({ length: 130 }, (_, month) => ({
    project_id,
    id: `c${month}`,
    trace_id: `t${month % 7}`,
    op_name: "op",
    started_at: instant(month),
    ended_at: instant(month),
    summary: { usage: { m: { requests: 1, prompt_tokens: month + 1 } } },
  }));
  expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
  const { call_usage } = (await test.post("/trace/usage", { project_id, limit: 1000 })).json();
  const tokens = Object.entries<{ m: { prompt_tokens: number } }>(call_usage).map(([id, { m }]) => [
    id,
    m.prompt_tokens,
  ]);
  expect(Object.fromEntries(tokens)).toEqual(Object.fromEntries(batch.map(({ id }, at) => [id, at + 1])));
});
