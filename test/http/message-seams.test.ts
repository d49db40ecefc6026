import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

let projects = 0;
/** Messages to a project of its own, and what came of them. */
function newProject() {
  const project_id = `acme/seams-${++projects}`;
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
  const send = async (url: string, body: unknown) => {
    const response = await test.post(url, body);
    expect([response.status, response.text]).toEqual([200, expect.any(String)]);
    return response.json();
  };
  const start = (id: string, more: object = {}) => ({
    project_id,
    id,
    trace_id: "t",
    op_name: "op",
    started_at: at(0),
    ...more,
  });
  const end = (id: string, more: object = {}) => ({ project_id, id, ended_at: at(1), ...more });
  return {
    project_id,
    startOf: start,
    endOf: end,
    start: (id: string, more?: object) => send("/call/start", { start: start(id, more) }),
    end: (id: string, more?: object) => send("/call/end", { end: end(id, more) }),
    rename: (call_id: string, display_name: string | null) =>
      send("/call/update", { project_id, call_id, display_name }),
    read: async (id: string) => (await send("/call/read", { project_id, id })).call,
    async filtered(filter: object): Promise<string[]> {
      const { text } = await test.post("/calls/stream_query", { project_id, filter });
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id]));
    },
  };
}

describe("references", () => {
  it("are all those of the stored payload", async () => {
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

describe("the project of a path", () => {
  it.each(["start", "end"])("takes effect: call/%s", async (what) => {
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

  it("rejects an item that names another", async () => {
    const p = newProject();
    const response = await test.post(`/v2/${p.project_id}/calls/complete`, {
      batch: [
        p.startOf("a"),
        p.startOf("b", { project_id: "acme/another" }),
        p.startOf("c", { project_id: null }),
      ],
    });
    expect(response.status).toBe(200);
    expect(response.json().rejected).toMatchObject([
      { index: 1, detail: [{ loc: ["body", "batch", 1, "project_id"], type: "value_error" }] },
    ]);
    expect(await p.filtered({})).toEqual(["a", "c"]);
  });
});

describe("an update", () => {
  it("without a name is rejected", async () => {
    const p = newProject();
    await p.start("a", { display_name: "named" });
    const response = await test.post("/call/update", { project_id: p.project_id, call_id: "a" });
    expect([response.status, response.json().detail?.[0]?.loc]).toEqual([422, ["body", "display_name"]]);
    await p.rename("a", null);
    expect((await p.read("a")).display_name).toBeNull();
  });
});
