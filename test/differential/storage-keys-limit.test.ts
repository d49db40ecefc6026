import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

/** The look-up of places ends after so many (`src/query/narrow.ts`). */
const BORDER = 1000;
const PROJECTS = ["acme/border", "acme/beside"] as const;
const steps = Array.from({ length: BORDER + 3 }, (_, step) => step);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  for (const project_id of PROJECTS) {
    // every second call lies in the second hour of the trace of the one before it
    const batch = steps.map((step) => ({
      project_id,
      id: `c-${step}`,
      trace_id: `t-${Math.floor(step / 2)}`,
      op_name: "op",
      started_at: new Date(Date.UTC(2026, 1, 27, 20 + (step % 2)) + step).toISOString(),
      ended_at: "2026-02-28T00:00:00Z",
      wb_run_step: step,
      attributes: {},
      inputs: { n: step % 4 },
      output: null,
      summary: {},
    }));
    const response = await test.post(`/v2/${project_id}/calls/complete`, { batch });
    expect(response.json()).toEqual({ rejected: [] });
  }
  const moved = { project_id: PROJECTS[0], id: "c-1", op_name: "op", inputs: { n: 2 }, attributes: {} };
  const start = { ...moved, trace_id: "t-0", started_at: "2026-02-27T21:00:00.001Z", wb_run_step: 2 };
  expect((await test.post("/call/start", { start })).status).toBe(200);
  expect((await test.post("/calls/delete", { project_id: PROJECTS[0], call_ids: ["c-6"] })).status).toBe(200);
});
afterAll(() => test.close());

const comparison = (name: string, field: string, literal: number): object => ({
  [name]: [{ $getField: field }, { $literal: literal }],
});

describe("a payload condition with a narrow one", () => {
  it.each([0, 1, 3, BORDER - 1, BORDER, BORDER + 1, BORDER + 2, BORDER + 3])(
    "selects the calls that match both, if the narrow one matches %i storage keys",
    async (places) => {
      const narrow = comparison("$lt", "svc_run_step", places);
      for (const [project_id, isTwo] of PROJECTS.flatMap((one) => [
        [one, true] as const,
        [one, false] as const,
      ])) {
        const payload = isTwo
          ? comparison("$eq", "inputs.n", 2)
          : { $not: [comparison("$eq", "inputs.n", 9)] };
        const expected = steps
          .filter((step) => project_id !== PROJECTS[0] || step !== 6)
          .map((step) =>
            project_id === PROJECTS[0] && step === 1 ? { step: 2, id: "c-1" } : { step, id: `c-${step}` },
          )
          .filter(({ step }) => step < places && (!isTwo || step % 4 === 2))
          .map(({ id }) => id);
        const asked = { project_id, query: { $expr: { $and: [narrow, payload] } } };
        const listed = await test.post("/calls/stream_query", { ...asked, columns: ["id"] });
        const ids = listed.text
          .split("\n")
          .slice(0, -1)
          .map((line) => (JSON.parse(line) as { id: string }).id);
        expect(ids.toSorted()).toEqual(expected.toSorted());
        expect((await test.post("/calls/query_stats", asked)).json()).toEqual({ count: expected.length });
        const usage = await test.post("/trace/usage", asked);
        expect(Object.keys(usage.json().call_usage as object).toSorted()).toEqual(expected.toSorted());
      }
    },
  );
});
