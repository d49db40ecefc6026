import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
/** What comes between a statement of a name and what follows from its rows. */
let afterReading: (name: string) => Promise<void> = () => Promise.resolve();
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => ({
      ...engine,
      async rows(query, options) {
        const rows = await engine.rows<never>(query, options);
        await afterReading(options.name);
        return rows;
      },
    }),
  });
});
afterAll(() => test.close());

let projects = 0;
/** Messages to a project of its own, and what came of them. */
function newProject() {
  const project_id = `acme/seams-${++projects}`;
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
  const send = async (url: string, body: unknown) => {
    const answer = await test.post(url, body);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json();
  };
  const start = (id: string, more: object = {}) => ({
    project_id,
    id,
    trace_id: "t",
    op_name: "op",
    started_at: at(0),
    ...more,
  });
  const usage = (prompt_tokens: number) => ({ usage: { m: { requests: 1, prompt_tokens } } });
  const end = (id: string, more: object = {}) => ({ project_id, id, ended_at: at(1), ...more });
  return {
    project_id,
    at,
    send,
    usage,
    startOf: start,
    endOf: end,
    start: (id: string, more?: object) => send("/call/start", { start: start(id, more) }),
    end: (id: string, more?: object) => send("/call/end", { end: end(id, more) }),
    complete: (id: string, more?: object) =>
      send(`/v2/${project_id}/calls/complete`, { batch: [start(id, more)] }),
    rename: (call_id: string, display_name: string | null) =>
      send("/call/update", { project_id, call_id, display_name }),
    remove: (...call_ids: string[]) => send("/calls/delete", { project_id, call_ids }),
    async removeAll() {
      const { statusCode } = await test.app.inject({
        method: "DELETE",
        url: `/projects/${project_id}`,
        headers: { authorization: `Basic ${Buffer.from(`api:${ROOT}`).toString("base64")}` },
      });
      expect(statusCode).toBe(202);
    },
    read: async (id: string) => (await send("/call/read", { project_id, id })).call,
    async found(query: object): Promise<string[]> {
      const { text } = await test.post("/calls/stream_query", { project_id, query: { $expr: query } });
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id]));
    },
    async filtered(filter: object): Promise<string[]> {
      const { text } = await test.post("/calls/stream_query", { project_id, filter });
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id]));
    },
    async tokens(id: string) {
      const { call_usage } = await send("/trace/usage", { project_id });
      return call_usage[id]?.m?.prompt_tokens;
    },
  };
}
const ROOT = "st_test00000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const field = (name: string) => ({ $getField: name });
const is = (name: string, value: unknown) => ({ $eq: [field(name), { $literal: value }] });

describe("what an end leaves as it was", () => {
  it.each(["/call/end", "upsert_batch", "/v2"])("the name of the start: %s", async (way) => {
    const p = newProject();
    await p.start("a", { display_name: "named" });
    if (way === "/call/end") await p.end("a");
    if (way === "upsert_batch")
      await p.send("/call/upsert_batch", { batch: [{ mode: "end", req: { end: p.endOf("a") } }] });
    if (way === "/v2") await p.send(`/v2/${p.project_id}/call/end`, { end: p.endOf("a") });
    expect(await p.read("a")).toMatchObject({
      display_name: "named",
      summary: { weave: { trace_name: "named" } },
    });
    expect(await p.found(is("display_name", "named"))).toEqual(["a"]);
    expect(await p.found(is("summary.weave.trace_name", "named"))).toEqual(["a"]);
  });

  it("the name in a whole call, and what it does not say", async () => {
    const p = newProject();
    await p.complete("a", { ended_at: p.at(1), display_name: "named", output: 1, exception: "x" });
    await p.end("a", { summary: p.usage(5) });
    expect(await p.read("a")).toMatchObject({ display_name: "named", output: 1, exception: "x" });
    expect(await p.tokens("a")).toBe(5);
  });

  it("is cleared by null alone", async () => {
    const p = newProject();
    await p.start("a", {
      display_name: "named",
      parent_id: "p",
      thread_id: "th",
      wb_run_step: 4,
      inputs: { a: 1 },
    });
    await p.end("a", { output: 1, exception: "x", summary: p.usage(5) });
    await p.start("a");
    expect(await p.read("a")).toMatchObject({
      display_name: "named",
      parent_id: "p",
      thread_id: "th",
      wb_run_step: 4,
      inputs: { a: 1 },
    });
    await p.start("a", {
      display_name: null,
      parent_id: null,
      thread_id: null,
      wb_run_step: null,
      inputs: null,
    });
    await p.end("a", { output: null, exception: null, summary: null });
    expect(await p.read("a")).toMatchObject({
      display_name: null,
      parent_id: null,
      thread_id: null,
      wb_run_step: null,
      inputs: {},
      output: null,
      exception: null,
    });
    expect(await p.tokens("a")).toBeUndefined();
    expect(await p.found({ $eq: [field("svc_run_step"), { $literal: 4 }] })).toEqual([]);
  });
});

describe("of two messages that say the same member", () => {
  it("the whole call holds that came after an end that waited", async () => {
    const p = newProject();
    await p.end("a", { summary: p.usage(1), output: "old" });
    await p.complete("a", { ended_at: p.at(2), summary: p.usage(100), output: "new" });
    expect(await p.tokens("a")).toBe(100);
    expect(await p.read("a")).toMatchObject({ output: "new", ended_at: "2026-01-01T00:00:02.000000Z" });
  });

  it("the later name holds, where the first one waited and the second is sent with the start", async () => {
    for (let round = 0; round < runs(2, 30); round++) {
      const p = newProject();
      await p.rename("a", "A");
      await Promise.all([p.start("a"), p.rename("a", "B")]);
      expect((await p.read("a")).display_name).toBe("B");
    }
  });

  it("the later item of a batch holds, waiting or not, and so it does when it is sent again", async () => {
    const p = newProject();
    const ends = [1, 2, 1, 3].map((n) => ({
      mode: "end",
      req: { end: p.endOf("a", { summary: p.usage(n) }) },
    }));
    await p.send("/call/upsert_batch", { batch: ends });
    await p.end("a", { summary: p.usage(1) });
    await p.start("a");
    expect(await p.tokens("a")).toBe(1);
    await p.send("/call/upsert_batch", { batch: ends });
    expect(await p.tokens("a")).toBe(3);
  });
});

describe("a whole call without ended_at", () => {
  it.each([{}, { ended_at: null }])("is stored as it is, and runs: %j", async (more) => {
    const p = newProject();
    const answer = await p.complete("a", { output: { x: 1 }, exception: "e", summary: p.usage(7), ...more });
    expect(answer).toEqual({ rejected: [] });
    expect(await p.read("a")).toMatchObject({ output: { x: 1 }, exception: "e", ended_at: null });
    expect(await p.tokens("a")).toBe(7);
    expect((await p.send("/trace/usage", { project_id: p.project_id })).unfinished_call_ids).toEqual(["a"]);
    await p.end("a");
    expect(await p.read("a")).toMatchObject({ output: { x: 1 }, ended_at: "2026-01-01T00:00:01.000000Z" });
    expect((await p.send("/trace/usage", { project_id: p.project_id })).unfinished_call_ids).toEqual([]);
  });
});

describe("a start without trace_id", () => {
  it.each([undefined, null, ""])("is one call however often it is sent: %j", async (trace_id) => {
    const p = newProject();
    const first = await p.start("a", { trace_id });
    const again = await p.start("a", { trace_id });
    expect(again).toEqual(first);
    await p.end("a", { summary: p.usage(3) });
    expect(await p.tokens("a")).toBe(3);
  });

  it("goes to the trace of its parent, in one batch in either order, or to its parent's own", async () => {
    const p = newProject();
    const starts = [
      p.startOf("leaf", { trace_id: undefined, parent_id: "child" }),
      p.startOf("child", { trace_id: undefined, parent_id: "root" }),
      p.startOf("root", { trace_id: "T" }),
    ].map((start) => ({ mode: "start", req: { start } }));
    const { res } = await p.send("/call/upsert_batch", { batch: starts });
    expect(res.map((one: { trace_id: string }) => one.trace_id)).toEqual(["T", "T", "T"]);
    const later = await p.start("later", { trace_id: undefined, parent_id: "leaf" });
    expect(later.trace_id).toBe("T");
    const before = await p.start("before", { trace_id: undefined, parent_id: "unknown" });
    await p.start("unknown", { trace_id: "U" });
    const again = await p.start("before", { trace_id: undefined, parent_id: "unknown" });
    expect(again.trace_id).toBe(before.trace_id);
    expect((await p.start("loop", { trace_id: undefined, parent_id: "loop" })).trace_id).not.toBe("");
  });
});

describe("references", () => {
  it("are those of the payload that holds, all of them", async () => {
    const p = newProject();
    const ref = (n: number): string => `weave:///e/p/object/x:${n}`;
    await p.start("a", { inputs: { x: ref(1) } });
    await p.end("a", { output: [ref(2)] });
    await p.start("a", {
      inputs: Array.from({ length: 2000 }, (_, n) => n).reduce(
        (all, n) => ({ ...all, [n]: ref(n + 10) }),
        {},
      ),
    });
    await p.end("a", { output: ref(3) });
    expect(await p.filtered({ input_refs: [ref(1)] })).toEqual([]);
    expect(await p.filtered({ output_refs: [ref(2)] })).toEqual([]);
    expect(await p.filtered({ input_refs: [ref(2009)] })).toEqual(["a"]);
    expect(await p.filtered({ output_refs: [ref(3)] })).toEqual(["a"]);
    await p.end("a");
    expect(await p.filtered({ output_refs: [ref(3)] })).toEqual(["a"]);
    await p.end("a", { output: null });
    expect(await p.filtered({ output_refs: [ref(3)] })).toEqual([]);
  });
});

describe("a project that is used again", () => {
  it("starts empty: nothing that waited comes back", async () => {
    for (let round = 0; round < 2; round++) {
      const p = newProject();
      await p.end("a", { output: "deleted", summary: p.usage(9) });
      await p.end("b", { output: "deleted" });
      await p.rename("b", "deleted");
      await p.remove("b");
      await p.removeAll();
      await Promise.all([p.start("a"), p.start("b")]);
      expect(await p.read("a")).toMatchObject({ output: null, ended_at: null });
      expect(await p.read("b")).toMatchObject({ output: null, display_name: null });
      expect(await p.tokens("a")).toBeUndefined();
    }
  });

  it("has none of its calls as soon as the deletion is answered", async () => {
    const p = newProject();
    await p.complete("a", { ended_at: p.at(1), summary: p.usage(9), display_name: "old" });
    await p.removeAll();
    expect(await p.read("a")).toBeNull();
    await p.start("a");
    expect(await p.read("a")).toMatchObject({ display_name: null, ended_at: null });
    expect(await p.tokens("a")).toBeUndefined();
  });

  it("has no tombstone of a call that was deleted with its parent at the same time", async () => {
    const p = newProject();
    await p.start("a");
    await p.start("b", { parent_id: "a" });
    afterReading = async (name) => {
      if (name !== "calls_tree") return;
      afterReading = () => Promise.resolve();
      await p.removeAll();
    };
    await p.remove("a");
    await p.start("a");
    await p.start("b");
    expect([(await p.read("a"))?.id, (await p.read("b"))?.id]).toEqual(["a", "b"]);
  });

  it.each(["end", "rename", "delete"])("does not lose what precedes its start: %s", async (what) => {
    const p = newProject();
    await p.start("a", { trace_id: "old" });
    await p.removeAll();
    if (what === "end") await p.end("a", { output: 5 });
    if (what === "rename") await p.rename("a", "named");
    if (what === "delete") await p.remove("a");
    await p.start("a", { trace_id: "new" });
    const call = await p.read("a");
    if (what === "end") expect(call.output).toBe(5);
    if (what === "rename") expect(call.display_name).toBe("named");
    if (what === "delete") expect(call).toBeNull();
  });
});

describe("the project of a path", () => {
  it.each(["start", "end"])("holds: call/%s", async (what) => {
    const p = newProject();
    const body = (more: object) => ({
      [what]: { ...(what === "start" ? p.startOf("a") : p.endOf("a")), ...more },
    });
    const url = `/v2/${p.project_id}/call/${what}`;
    const other = await test.post(url, body({ project_id: "acme/another" }));
    expect(other.status).toBe(422);
    expect(other.json().detail).toMatchObject([{ loc: ["body", what, "project_id"], type: "value_error" }]);
    expect((await test.post(url, body({ project_id: undefined }))).status).toBe(200);
    expect((await test.post(url, body({}))).status).toBe(200);
  });

  it("sets an item that names another aside", async () => {
    const p = newProject();
    const answer = await test.post(`/v2/${p.project_id}/calls/complete`, {
      batch: [
        p.startOf("a"),
        p.startOf("b", { project_id: "acme/another" }),
        p.startOf("c", { project_id: null }),
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.json().rejected).toMatchObject([
      { index: 1, detail: [{ loc: ["body", "batch", 1, "project_id"], type: "value_error" }] },
    ]);
    expect(await p.filtered({})).toEqual(["a", "c"]);
  });
});

describe("values at their edges", () => {
  it("takes '' as none where an id is optional", async () => {
    const p = newProject();
    await p.start("a", { parent_id: "", thread_id: "", turn_id: "", wb_user_id: "", wb_run_id: "" });
    expect(await p.read("a")).toMatchObject({ parent_id: null, thread_id: null, wb_user_id: null });
    expect(await p.filtered({ trace_roots_only: true })).toEqual(["a"]);
  });

  it.each(["+99:99", "+24:00", "-24:00", "+01:60"])("does not take %s for an offset", async (offset) => {
    const p = newProject();
    const answer = await test.post("/call/start", {
      start: p.startOf("a", { started_at: `2026-01-01T00:00:00${offset}` }),
    });
    expect([answer.status, answer.json().detail?.[0]?.type]).toEqual([422, "datetime_parsing"]);
  });

  it("does not take an update without a name", async () => {
    const p = newProject();
    await p.start("a", { display_name: "named" });
    const answer = await test.post("/call/update", { project_id: p.project_id, call_id: "a" });
    expect([answer.status, answer.json().detail?.[0]?.loc]).toEqual([422, ["body", "display_name"]]);
    await p.rename("a", null);
    expect((await p.read("a")).display_name).toBeNull();
  });

  it("tells calls apart whose ids and traces only read the same together", async () => {
    const p = newProject();
    await p.start("c", { trace_id: "a\nb", inputs: { n: 1 } });
    await p.start("b\nc", { trace_id: "a", inputs: { n: 2 } });
    expect(await p.filtered({})).toEqual(["b\nc", "c"]);
    await p.remove("c");
    expect(await p.filtered({})).toEqual(["b\nc"]);
  });

  it.each([
    "9007199254740992",
    "9007199254740993",
    "9007199254740994",
    "1152921504606846976",
    '"9007199254740992"',
  ])("counts %s tokens", async (tokens) => {
    const p = newProject();
    await p.start("a");
    const end = JSON.stringify({ end: p.endOf("a", { summary: p.usage(123) }) }).replace("123", tokens);
    expect((await test.post("/call/end", end)).status).toBe(200);
    expect(await p.tokens("a")).toBe(Number(JSON.parse(tokens)));
  });
});

describe("a list of prices", () => {
  it("takes a query over every field", async () => {
    const p = newProject();
    const price = (cost: number) => ({ prompt_token_cost: cost, completion_token_cost: cost });
    const { project_id } = p;
    await p.send("/cost/create", {
      project_id,
      costs: { dear: price(2), cheap: { ...price(1), cache_read_input_token_cost: 0 } },
    });
    const asked = async ($expr: object) => {
      const { results } = await p.send("/cost/query", { project_id, fields: ["llm_id"], query: { $expr } });
      return results.map((one: { llm_id: string }) => one.llm_id).sort();
    };
    expect(await asked(is("llm_id", "dear"))).toEqual(["dear"]);
    expect(await asked({ $gt: [field("prompt_token_cost"), { $literal: 1 }] })).toEqual(["dear"]);
    expect(await asked(is("cache_read_input_token_cost", 0))).toEqual(["cheap"]);
    expect(await asked({ $gt: [field("effective_date"), { $literal: "2020-01-01T00:00:00Z" }] })).toEqual([
      "cheap",
      "dear",
    ]);
    const unknown = await test.post("/cost/query", { project_id, query: { $expr: is("llm", "x") } });
    expect([unknown.status, unknown.json().detail?.[0]?.type]).toEqual([422, "unknown_field"]);
  });

  it("does not lose a price in silence", async () => {
    const p = newProject();
    const body = `{"project_id":"${p.project_id}","costs":{"__proto__":{"prompt_token_cost":1,"completion_token_cost":1}}}`;
    const answer = await test.post("/cost/create", body);
    expect([answer.status, answer.json().detail?.[0]?.loc]).toEqual([422, ["body", "costs", "__proto__"]]);
  });
});

describe("texts are counted in characters", () => {
  it("a note has 1024 of them", async () => {
    const { project_id } = newProject();
    const send = (note: string) =>
      test.post("/feedback/create", {
        project_id,
        weave_ref: `weave:///${project_id}/call/a`,
        feedback_type: "wandb.note.1",
        payload: { note },
      });
    expect((await send("\u{1f600}".repeat(1024))).status).toBe(200);
    expect((await send("\u{1f600}".repeat(1025))).status).toBe(422);
  });

  it("an emoji has one place in a slug", async () => {
    const { project_id } = newProject();
    const answer = await test.post("/feedback/stats", {
      project_id,
      start: "2026-01-01T00:00:00Z",
      end: "2026-01-02T00:00:00Z",
      metrics: [{ json_path: "a\u{1f600}b", aggregations: ["sum"] }],
    });
    expect(Object.keys(answer.json().buckets[0])).toContain("sum_a_b");
  });
});
