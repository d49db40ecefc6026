import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const REVERSED = {
  project_id: "acme/reversed",
  start: "2026-01-02T00:00:00Z",
  end: "2026-01-01T00:00:00Z",
};

describe.each(["/usage/stats", "/feedback/stats", "/feedback/payload_schema"])("%s", (route) => {
  it("reports an end before the start together with other issues", async () => {
    const sizes = { granularity: 0, sample_limit: 0 };
    const detail: { loc: unknown[]; msg: string }[] = (
      await test.post(route, { ...REVERSED, ...sizes })
    ).json().detail;
    const size = route.endsWith("schema") ? "sample_limit" : "granularity";
    expect(detail).toContainEqual(expect.objectContaining({ loc: ["body", size] }));
    expect(detail).toContainEqual({
      loc: ["body", "end"],
      msg: "end lies before start",
      type: "value_error",
    });
  });

  it("reports a start in the future", async () => {
    const response = await test.post(route, {
      project_id: REVERSED.project_id,
      start: "2254-01-01T00:00:00Z",
    });
    expect(response.status).toBe(422);
    expect(response.json().detail).toEqual([
      { loc: ["body", "start"], msg: "start lies in the future", type: "value_error" },
    ]);
  });
});
