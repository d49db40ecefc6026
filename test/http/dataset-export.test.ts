import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatCalls, type Chat } from "../helpers/chat-calls.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let projects = 0;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const newProject = (): string => `acme/datasets-${projects++}`;

/** Sends chats, a second apart. */
async function send(project_id: string, calls: readonly Chat[]): Promise<void> {
  const batch = chatCalls(calls);
  const response = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(response.status, response.text).toBe(200);
}

async function rate(project_id: string, id: string, payload: object): Promise<void> {
  const response = await test.post("/feedback/create", {
    project_id,
    weave_ref: `weave:///${project_id}/call/${id}`,
    feedback_type: "score",
    payload,
  });
  expect(response.status, response.text).toBe(200);
}

const good = { feedback_type: "score", json_path: "ok", op: "$eq", value: true };

async function exported(body: object) {
  const response = await test.post("/dataset/export", { format: "chat", ...body });
  expect(response.status, response.text).toBe(200);
  const id = response.headers["x-sumtree-export-id"] as string;
  const { project_id } = body as { project_id: string };
  const { exports, calls } = (
    await test.post("/dataset/query", { project_id, export_id: id, limit: 1000 })
  ).json();
  const lines = response.text.split("\n").slice(0, -1);
  return {
    text: response.text,
    lines,
    objects: lines.map((line) => JSON.parse(line) as Line),
    manifest: exports[0],
    calls,
  };
}

interface Line {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly prompt: readonly { readonly content: string }[];
  readonly chosen: readonly { readonly content: string }[];
  readonly rejected: readonly { readonly content: string }[];
  readonly reward: number;
  readonly metadata: { readonly call_id: string };
}

const answersOf = (lines: readonly Line[]): string[] => lines.map(({ messages }) => messages.at(-1)!.content);

describe("POST /dataset/export", () => {
  it("exports chats oldest first, with a manifest that tells of every call", async () => {
    const project_id = newProject();
    await send(project_id, [
      { id: "one" },
      {
        id: "embedding",
        more: { inputs: { input: "x", model: "e" }, output: { data: [{ embedding: [1] }] } },
      },
      { id: "broken", more: { exception: "boom" } },
      { id: "two" },
    ]);
    const { text, lines, manifest, calls } = await exported({ project_id });
    expect(lines).toEqual([
      '{"messages":[{"role":"user","content":"q-one"},{"role":"assistant","content":"a-one"}]}',
      '{"messages":[{"role":"user","content":"q-two"},{"role":"assistant","content":"a-two"}]}',
    ]);
    expect(manifest).toMatchObject({
      created_by: "root",
      question: { format: "chat" },
      format: "chat",
      counts: { selected: 4, exported: 2, held_out: 0, left_out: { failed: 1, not_a_chat: 1 } },
      sha256: createHash("sha256").update(text).digest("hex"),
      bytes: Buffer.byteLength(text),
      lines: 2,
    });
    expect(calls).toEqual([
      { trace_id: "t-one", call_id: "one", line: 1, reason: null },
      { trace_id: "t-embedding", call_id: "embedding", line: null, reason: "not_a_chat" },
      { trace_id: "t-broken", call_id: "broken", line: null, reason: "failed" },
      { trace_id: "t-two", call_id: "two", line: 2, reason: null },
    ]);
  });

  it("lists exports, the latest first, in pages; and their calls", async () => {
    const project_id = newProject();
    await send(project_id, [{ id: "a" }, { id: "b" }, { id: "c" }]);
    for (const limit of [1, 2, 3]) await exported({ project_id, limit });
    const seen: number[] = [];
    let page_token: string | null = null;
    do {
      const page = (await test.post("/dataset/query", { project_id, limit: 2, page_token })).json();
      seen.push(...page.exports.map(({ lines }: { lines: number }) => lines));
      page_token = page.next_page_token;
    } while (page_token !== null);
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    const [last] = (await test.post("/dataset/query", { project_id, limit: 1 })).json().exports;
    const ask = { project_id, export_id: last.id, limit: 2 };
    const first = (await test.post("/dataset/query", ask)).json();
    const second = (await test.post("/dataset/query", { ...ask, page_token: first.next_page_token })).json();
    expect([...first.calls, ...second.calls].map(({ call_id }) => call_id)).toEqual(["a", "b", "c"]);
    expect(second.next_page_token).toBeNull();
    expect((await test.post("/dataset/query", { project_id: newProject(), export_id: last.id })).status).toBe(
      404,
    );
    expect((await test.post("/dataset/query", { project_id, page_token: "x" })).status).toBe(422);
  });

  it("answers 422 if there is nothing to export, with the reasons, and writes no manifest", async () => {
    const project_id = newProject();
    const none = await test.post("/dataset/export", { project_id, format: "chat" });
    expect([none.status, none.json().detail[0]]).toEqual([
      422,
      { loc: ["body"], msg: "Nothing to export: no calls are selected", type: "empty_dataset" },
    ]);
    await send(project_id, [
      { id: "a", more: { exception: "e" } },
      { id: "b", more: { inputs: {} } },
      { id: "c", more: { inputs: {} } },
    ]);
    const response = await test.post("/dataset/export", { project_id, format: "chat" });
    expect(response.json().detail[0].msg).toBe("Nothing to export: 1 failed, 2 not_a_chat");
    expect(response.headers["x-sumtree-export-id"]).toBeUndefined();
    expect((await test.post("/dataset/query", { project_id })).json().exports).toEqual([]);
  });

  it.each<readonly [string, object, readonly (string | number)[], string]>([
    ["preferences without feedback", { format: "preference" }, ["feedback"], "missing"],
    ["trajectories without feedback", { format: "trajectories", feedback: null }, ["feedback"], "missing"],
    ["no format", { format: undefined }, ["format"], "literal_error"],
    ["an unknown format", { format: "csv" }, ["format"], "literal_error"],
    ["an unknown member", { sort: 1 }, ["sort"], "extra_forbidden"],
    ["an unknown part", { only: "tops" }, ["only"], "literal_error"],
    ["a limit of nothing", { limit: 0 }, ["limit"], "greater_than_equal"],
    ["a limit that is too large", { limit: 1_000_001 }, ["limit"], "less_than_equal"],
    ["a limit of a half", { limit: 0.5 }, ["limit"], "float_from_float"],
    ["a holdout above all", { holdout: 1.5 }, ["holdout"], "less_than_equal"],
    ["a holdout below nothing", { holdout: -0.1 }, ["holdout"], "greater_than_equal"],
    ["a seed that is text", { seed: "a" }, ["seed"], "float_parsing"],
    ["dedupe that is text", { dedupe: "yes" }, ["dedupe"], "bool_type"],
    ["an unknown operator", { feedback: { ...good, op: "$ne" } }, ["feedback", "op"], "literal_error"],
    ["no operator", { feedback: { json_path: "a", value: 1 } }, ["feedback", "op"], "literal_error"],
    ["$in of one value", { feedback: { ...good, op: "$in" } }, ["feedback", "value"], "list_type"],
    ["an empty path", { feedback: { ...good, json_path: "" } }, ["feedback", "json_path"], "value_error"],
    [
      "a query of no field",
      { query: { $expr: { $eq: [{ $getField: "none" }, { $literal: 1 }] } } },
      ["query", "$expr", "$eq", 0, "$getField"],
      "unknown_field",
    ],
  ])("refuses %s", async (_name, more, at, type) => {
    const project_id = newProject();
    const response = await test.post("/dataset/export", { project_id, format: "chat", ...more });
    expect(response.status, response.text).toBe(422);
    const { loc, ...detail } = response.json().detail[0];
    expect([loc, detail.type]).toEqual([["body", ...at], type]);
    expect((await test.post("/dataset/query", { project_id })).json().exports).toEqual([]);
  });

  it("selects the calls whose latest rating passes", async () => {
    const project_id = newProject();
    await send(
      project_id,
      ["good", "bad", "changed", "unrated"].map((id) => ({ id })),
    );
    await rate(project_id, "good", { ok: true });
    await rate(project_id, "bad", { ok: false });
    await rate(project_id, "changed", { ok: true });
    await rate(project_id, "changed", { ok: false });
    const { objects, manifest } = await exported({ project_id, feedback: good });
    expect(answersOf(objects)).toEqual(["a-good"]);
    expect(manifest.counts.selected).toBe(1);
  });

  it("keeps roots, leaves, or the last example of each thread", async () => {
    const project_id = newProject();
    await send(project_id, [
      { id: "root", more: { trace_id: "t" } },
      { id: "middle", more: { trace_id: "t", parent_id: "root", thread_id: "x" } },
      { id: "leaf", more: { trace_id: "t", parent_id: "middle", thread_id: "x" } },
      { id: "failed", more: { thread_id: "x", exception: "e" } },
      { id: "alone", more: { thread_id: "y" } },
    ]);
    const of = async (only: string) => {
      const { objects, manifest } = await exported({ project_id, only });
      return [answersOf(objects), manifest.counts.left_out];
    };
    expect(await of("roots")).toEqual([["a-root", "a-alone"], { failed: 1, has_parent: 2 }]);
    expect(await of("leaves")).toEqual([["a-leaf", "a-alone"], { failed: 1, has_children: 2 }]);
    expect(await of("last_of_thread")).toEqual([
      ["a-root", "a-leaf", "a-alone"],
      { failed: 1, not_last_of_thread: 1 },
    ]);
  });

  it("exports equal lines once, and no more lines than asked for", async () => {
    const project_id = newProject();
    await send(
      project_id,
      ["a", "b", "c", "d"].map((id) => ({ id, asked: "same", said: id === "d" ? "other" : "same" })),
    );
    const unique = await exported({ project_id, dedupe: true });
    expect([unique.lines.length, unique.manifest.counts.left_out]).toEqual([2, { duplicate: 2 }]);
    expect((await exported({ project_id })).lines).toHaveLength(4);
    const one = await exported({ project_id, dedupe: true, limit: 1 });
    expect([one.lines.length, one.manifest.counts.left_out]).toEqual([1, { over_limit: 3 }]);
    expect(one.calls.map(({ line }: { line: number | null }) => line)).toEqual([1, null, null, null]);
  });

  it("pairs the k-th passing with the k-th failing answer to one prompt", async () => {
    const project_id = newProject();
    await send(project_id, [
      { id: "p1", asked: "x" },
      { id: "p2", asked: "x" },
      { id: "f1", asked: "x" },
      { id: "f2", asked: "x" },
      { id: "f3", asked: "x" },
      { id: "f4", asked: "y", said: "equal" },
      { id: "p3", asked: "y", said: "equal" },
      { id: "unrated", asked: "x" },
    ]);
    for (const id of ["p1", "p2", "p3", "f1", "f2", "f3", "f4"])
      await rate(project_id, id, { ok: id.startsWith("p") });
    const { lines, manifest, calls } = await exported({ project_id, format: "preference", feedback: good });
    expect(lines).toEqual([
      '{"prompt":[{"role":"user","content":"x"}],"chosen":[{"role":"assistant","content":"a-p1"}],"rejected":[{"role":"assistant","content":"a-f1"}]}',
      '{"prompt":[{"role":"user","content":"x"}],"chosen":[{"role":"assistant","content":"a-p2"}],"rejected":[{"role":"assistant","content":"a-f2"}]}',
    ]);
    expect(manifest.counts).toEqual({
      selected: 7,
      exported: 4,
      held_out: 0,
      left_out: { no_counterpart: 1, same_answer: 2 },
    });
    expect(calls.map(({ call_id, line }: { call_id: string; line: number }) => [call_id, line])).toEqual([
      ["p1", 1],
      ["p2", 2],
      ["f1", 1],
      ["f2", 2],
      ["f3", null],
      ["f4", null],
      ["p3", null],
    ]);
  });

  it("writes trajectories with the rating as reward", async () => {
    const project_id = newProject();
    await send(
      project_id,
      ["a", "b", "c"].map((id) => ({ id })),
    );
    await rate(project_id, "a", { v: 0.5 });
    await rate(project_id, "b", { v: true });
    await rate(project_id, "c", { v: "fine" });
    const feedback = { json_path: "v", op: "$in", value: [0.5, true, "fine"] };
    const { lines, manifest } = await exported({ project_id, format: "trajectories", feedback });
    expect(lines[0]).toBe(
      '{"messages_and_choices":[{"role":"user","content":"q-a"},{"finish_reason":"stop","index":0,"logprobs":null,' +
        '"message":{"role":"assistant","content":"a-a","refusal":null}}],"reward":0.5,"metrics":{},' +
        '"metadata":{"trace_id":"t-a","call_id":"a"}}',
    );
    expect(JSON.parse(lines[1]!)).toMatchObject({ reward: 1, metadata: { call_id: "b" } });
    expect(manifest.counts).toMatchObject({ exported: 2, left_out: { no_reward: 1 } });
  });

  it("holds out whole traces, the same for the same seed", async () => {
    const project_id = newProject();
    await send(
      project_id,
      Array.from({ length: 200 }, (_, n) => ({ id: `c${n}`, more: { trace_id: `t${n >> 1}` } })),
    );
    const part = async (holdout: number, seed?: number) => exported({ project_id, holdout, seed });
    const half = await part(0.5);
    const held = new Set(
      half.calls
        .filter(({ reason }: { reason: string }) => reason === "held_out")
        .map((call: { trace_id: string }) => call.trace_id),
    );
    const kept = new Set(
      half.calls
        .filter(({ reason }: { reason: string }) => reason === null)
        .map((call: { trace_id: string }) => call.trace_id),
    );
    expect(half.manifest.counts.held_out).toBe(2 * held.size);
    expect([held.size + kept.size, new Set([...held, ...kept]).size]).toEqual([100, 100]);
    expect(held.size).toBeGreaterThan(25);
    expect((await part(0.5)).text).toBe(half.text);
    expect((await part(0.5, 7)).text).not.toBe(half.text);
    expect((await test.post("/dataset/export", { project_id, format: "chat", holdout: 1 })).status).toBe(422);
  });
});
