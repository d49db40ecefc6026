import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { INGEST_BODY_LIMIT_BYTES: String(48 * 1024 * 1024) } });
});
afterAll(() => test.close());

async function send(project: string, calls: readonly object[]): Promise<void> {
  const started_at = "2026-01-02T03:04:05Z";
  const batch = calls.map((call) => ({
    attributes: {},
    inputs: {},
    op_name: "op",
    trace_id: "t",
    started_at,
    ...call,
  }));
  expect((await test.post(`/v2/${project}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
}

async function say(
  project_id: string,
  said: readonly { readonly about: string; readonly payload: object }[],
) {
  const batch = said.map(({ about, payload }) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/${about}`,
    feedback_type: "custom",
    payload,
  }));
  const response = await test.post("/feedback/batch/create", { batch });
  expect([response.status, response.json().rejected]).toEqual([200, []]);
}

async function read(project_id: string, more: object = {}) {
  const response = await test.post("/calls/stream_query", { project_id, include_feedback: true, ...more });
  return { ...response, lines: response.text.split("\n").slice(0, -1) };
}

interface Read {
  readonly id: string;
  readonly summary: { readonly weave: { readonly feedback?: { readonly payload: unknown }[] } };
}
/** Feedback by call, sorted: feedback of one millisecond is returned in any order. */
const saidOf = ({ lines }: { lines: readonly string[] }) =>
  lines.map((line) => {
    const { id, summary } = JSON.parse(line) as Read;
    const said = summary.weave.feedback?.map(({ payload }) => JSON.stringify(payload));
    return [id, said?.toSorted().map((payload) => JSON.parse(payload) as unknown)];
  });

describe("calls with include_feedback", () => {
  it("contain the feedback that /feedback/query lists, and none of other calls, other projects, or purged", async () => {
    const project = "acme/said";
    await send(project, [
      { id: "a" },
      { id: "b" },
      { id: "c", summary: { weave: { feedback: "sent", x: 1 } } },
    ]);
    await say(project, [
      { about: "a", payload: { n: 1 } },
      { about: "c", payload: { n: 2 } },
    ]);
    await say(project, [
      { about: "a", payload: { n: 3 } },
      { about: "c", payload: { gone: true } },
    ]);
    await say("acme/elsewhere", [{ about: "a", payload: { secret: true } }]);
    const listed = (await test.post("/feedback/query", { project_id: project })).json().result as {
      id: string;
      payload: { gone?: boolean };
    }[];
    const id = listed.find(({ payload }) => payload.gone)!.id;
    const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };
    await test.post("/feedback/purge", { project_id: project, query });
    const response = await read(project, { include_costs: true });
    expect(saidOf(response)).toEqual([
      ["a", [{ n: 1 }, { n: 3 }]],
      ["b", []],
      ["c", [{ n: 2 }]],
    ]);
    const [first] = (JSON.parse(response.lines[0]!) as Read).summary.weave.feedback!;
    expect(first).toEqual(listed.find(({ id }) => id === (first as { id?: string }).id));
    expect((JSON.parse(response.lines[2]!) as Read).summary.weave).toMatchObject({ x: 1, status: "running" });
    expect(saidOf(await read(project, { include_feedback: false, filter: { call_ids: ["a"] } }))).toEqual([
      ["a", undefined],
    ]);
  });

  it("keep every digit of a payload", async () => {
    const project_id = "acme/digits";
    await send(project_id, [{ id: "a" }]);
    const ref = `weave:///${project_id}/call/a`;
    const body = `{"project_id":"${project_id}","weave_ref":"${ref}","feedback_type":"t","payload":{"n":9223372036854775807}}`;
    await test.post("/feedback/create", body);
    expect((await read(project_id)).lines[0]).toContain('"payload":{"n":9223372036854775807}');
  });

  it.runIf(isLong)(
    "are read in parts where it is too much for one, and refused where it is too much for one call",
    async () => {
      const project = "acme/much";
      const ids = Array.from({ length: 4 }, (_, n) => `call-${n}`);
      await send(
        project,
        ids.map((id) => ({ id })),
      );
      for (const about of ids) await say(project, [{ about, payload: { text: "x".repeat(9_000_000) } }]);
      const sizes = saidOf(await read(project)).map(([id, said]) => [
        id,
        (said as { text: string }[])[0]?.text.length,
      ]);
      expect(sizes).toEqual(ids.map((id) => [id, 9_000_000]));
      for (let n = 0; n < 4; n++)
        await say(project, [{ about: "call-0", payload: { text: "x".repeat(9_000_000) } }]);
      expect((await read(project, { filter: { call_ids: ["call-0"] } })).status).toBe(413);
      const many = Array.from({ length: 10_001 }, (_, n) => ({ about: "call-1", payload: { n } }));
      await say(project, many.slice(2));
      expect((await read(project, { filter: { call_ids: ["call-1"] } })).status).toBe(200);
      await say(project, many.slice(0, 2));
      expect((await read(project, { filter: { call_ids: ["call-1"] } })).status).toBe(413);
    },
  );
});
