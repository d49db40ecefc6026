import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/paths";
let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

let minutes = 0;
async function give(payload: object, more: object = {}): Promise<void> {
  const created_at = new Date(Date.UTC(2026, 4, 1, 0, minutes++)).toISOString();
  const body = {
    project_id,
    weave_ref: "weave:///acme/paths/call/1",
    feedback_type: "custom",
    created_at,
    payload,
  };
  expect((await test.post("/feedback/create", { ...body, ...more })).status).toBe(200);
}

async function paths(more: object = {}): Promise<Record<string, string>> {
  const window = { project_id, start: "2026-05-01T00:00:00Z", end: "2026-06-01T00:00:00Z" };
  const response = await test.post("/feedback/payload_schema", { ...window, ...more });
  expect([response.status, response.headers["x-truncated"]]).toEqual([200, "false"]);
  const found = response.json().paths as { json_path: string; value_type: string }[];
  expect(found.map((path) => path.json_path)).toEqual(found.map((path) => path.json_path).sort());
  return Object.fromEntries(found.map((path) => [path.json_path, path.value_type]));
}

describe("POST /feedback/payload_schema", () => {
  it("returns the paths of the newest feedback and the metric type of each", async () => {
    const type = { feedback_type: "kinds" };
    await give(
      { output: { score: 1, passed: true, label: "good", mixed: 1 }, list: [{ v: 1 }], "a.b": 1, none: null },
      type,
    );
    await give(
      { output: { score: 0.5, passed: false, label: 7, mixed: true }, "": 1, deep: { er: { x: "y" } } },
      type,
    );
    expect(await paths(type)).toEqual({
      "deep.er.x": "categorical",
      "output.label": "categorical",
      "output.mixed": "categorical",
      "output.passed": "boolean",
      "output.score": "numeric",
    });
  });

  it("samples every trigger, for any number of rows of another one", async () => {
    const type = { feedback_type: "busy" };
    await give({ rare: 1 }, { ...type, trigger_ref: "weave:///acme/paths/object/rare:v1" });
    for (let row = 0; row < 15; row++) await give({ common: true }, { ...type, trigger_ref: "t:v2" });
    expect(await paths({ ...type, sample_limit: 11 })).toEqual({ rare: "numeric", common: "boolean" });
    expect(await paths({ ...type, trigger_ref: "t:*" })).toEqual({ common: "boolean" });
  });

  it("omits purged feedback, and other windows, types and projects", async () => {
    const type = { feedback_type: "gone" };
    await give({ gone: 1 }, { ...type, id: "gone" });
    const $expr = { $eq: [{ $getField: "id" }, { $literal: "gone" }] };
    await test.post("/feedback/purge", { project_id, query: { $expr } });
    expect(await paths(type)).toEqual({});
    expect(await paths({ ...type, start: "2026-05-30T00:00:00Z" })).toEqual({});
    expect(await paths({ project_id: "acme/nothing" })).toEqual({});
  });

  it("rejects a window that ends before it starts, and a sample that is too large", async () => {
    const body = { project_id, start: "2026-05-02T00:00:00Z", end: "2026-05-01T00:00:00Z" };
    expect((await test.post("/feedback/payload_schema", body)).json().detail[0].loc).toEqual(["body", "end"]);
    const large = { project_id, start: "2026-05-02T00:00:00Z", sample_limit: 5001 };
    expect((await test.post("/feedback/payload_schema", large)).status).toBe(422);
  });
});
