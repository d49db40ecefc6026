import { afterAll, beforeAll, expect, it } from "vitest";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/app";
const begun = Promise.withResolvers<void>();
const looked = Promise.withResolvers<void>();

let test: TestApp;
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) =>
      interceptStatements(engine, async (name, run) => {
        if (name === "calls_add") {
          begun.resolve();
          await looked.promise;
        }
        const result = await run();
        if (name === "calls_tree") looked.resolve();
        return result;
      }),
  });
});
afterAll(() => test.close());

it("a call deleted during its write stays deleted", async () => {
  const call = {
    project_id,
    id: "c",
    trace_id: "t",
    op_name: "secret",
    started_at: "2026-01-01T00:00:00Z",
  };
  const starting = test.post("/call/start", { start: { ...call, inputs: {}, attributes: {} } });
  await begun.promise;
  const deleted = await test.post("/calls/delete", { project_id, call_ids: ["c"] });
  expect([(await starting).status, deleted.status]).toEqual([200, 200]);
  expect((await test.post("/call/read", { project_id, id: "c" })).json()).toMatchObject({ call: null });
});
