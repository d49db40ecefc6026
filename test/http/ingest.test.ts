import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/ingest";

function start(id: string, more: object = {}) {
  return {
    project_id,
    id,
    trace_id: "t1",
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: {},
    attributes: {},
    ...more,
  };
}
function end(id: string, more: object = {}) {
  return { project_id, id, ended_at: "2026-01-01T00:00:01.5Z", output: 1, summary: {}, ...more };
}

async function stored(id: string) {
  return test.engine.rows<Record<string, unknown>>(
    sql`SELECT * FROM calls FINAL WHERE id = ${{ kind: "param", type: "String", value: id }}`,
    { name: "test" },
  );
}

describe("POST /call/upsert_batch", () => {
  it("rejects an invalid item and stores the others", async () => {
    const response = await test.post("/call/upsert_batch", {
      batch: [
        { mode: "start", req: { start: start("good") } },
        { mode: "start", req: { start: start("bad", { started_at: "yesterday" }) } },
        { mode: "end", req: { end: end("good") } },
        17,
      ],
    });
    expect(response.status).toBe(200);
    expect(response.json().rejected.map((one: { index: number }) => one.index)).toEqual([1, 3]);
    expect(response.json().res[1].error[0]).toMatchObject({
      loc: ["body", "batch", 1, "req", "start", "started_at"],
      type: "datetime_parsing",
    });
    expect(await stored("good")).toHaveLength(1);
  });

  it.each(["1899-12-31T23:59:59.999999Z", "2255-01-01T00:00:00Z"])(
    "names the supported years for a start at %s",
    async (started_at) => {
      const response = await test.post("/call/start", { start: start("far", { started_at }) });
      expect(response.status).toBe(422);
      expect(response.json().detail[0].msg).toBe(
        "Input should be an ISO 8601 instant of the years 1900 to 2254",
      );
    },
  );

  it("keeps the escaped keys of a call, for any keys of another project", async () => {
    const send = (id: string, project: string, inputs: string) => {
      const item = JSON.stringify({ start: start(id, { project_id: project }) });
      return test.post("/call/start", item.replace('"inputs":{}', `"inputs":${inputs}`));
    };
    for (const id of ["other 1", "other 2"]) {
      expect((await send(id, "umbrella/other", String.raw`{"question":0,"\\u":1,"\\":2}`)).status).toBe(200);
    }
    const inputs = String.raw`{"question":0,"\u00e9t":1,"\n":2}`;
    expect((await send("escaped", project_id, inputs)).status).toBe(200);
    expect(await stored("escaped")).toMatchObject([{ inputs: String.raw`{"question":0,"ét":1,"\n":2}` }]);
  });

  it("keeps long integers when another item is nested too deep", async () => {
    const inputs = `{"deep":${"[".repeat(3000)}${"]".repeat(3000)}}`;
    const [long, deep] = ["long", "deep"].map((id) =>
      JSON.stringify({ mode: "start", req: { start: start(id) } }),
    );
    const response = await test.post(
      "/call/upsert_batch",
      `{"batch":[${deep!.replace('"inputs":{}', `"inputs":${inputs}`)},${long!.replace('"inputs":{}', '"inputs":{"n":9223372036854775807}')}]}`,
    );
    expect(response.status).toBe(200);
    expect(response.json().rejected.map((one: { index: number }) => one.index)).toEqual([0]);
    expect(await stored("long")).toMatchObject([{ inputs: '{"n":9223372036854775807}' }]);
  });

  it("accepts messages without optional members", async () => {
    const id = "least";
    const whole = {
      id,
      trace_id: "t3",
      op_name: "op",
      started_at: "2026-01-01",
      ended_at: "2026-01-01T00:00:01",
    };
    const complete = await test.post(`/v2/${project_id}/calls/complete`, { batch: [whole] });
    expect(complete.json()).toEqual({ rejected: [] });
    expect(await stored(id)).toMatchObject([
      { inputs: null, output: null, summary: null, started_at: "2026-01-01 00:00:00.000000" },
    ]);
    const bare = { project_id, op_name: "op", started_at: "2026-01-01T00:00:00Z" };
    const started = await test.post("/call/start", { start: bare });
    expect(started.json()).toEqual({ id: expect.any(String), trace_id: expect.any(String) });
    const ended = await test.post("/call/end", {
      end: { project_id, id: started.json().id, ended_at: "2026-01-01T00:00:02Z" },
    });
    expect([ended.status, ended.json()]).toEqual([200, {}]);
  });

  it("rejects a body that is not a batch, with every issue", async () => {
    const response = await test.post("/call/upsert_batch", { batch: 5 });
    expect([response.status, response.json().detail]).toEqual([
      422,
      [{ loc: ["body", "batch"], msg: expect.any(String), type: "list_type" }],
    ]);
  });
});
