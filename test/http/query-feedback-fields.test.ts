import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
const ids = ["none", "one", "two", "odd"];

beforeAll(async () => {
  test = await startApp();
  for (const project of ["acme/mine", "acme/other"]) {
    const batch = ids.map((id) => ({
      id,
      trace_id: id,
      op_name: "op",
      started_at: "2026-03-01T12:00:00Z",
      inputs: {},
    }));
    expect((await test.post(`/v2/${project}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
  }
  await give(
    "one",
    "score",
    { output: { value: 0.4, label: "fine" } },
    { runnable_ref: "weave:///acme/mine/op/judge:v1" },
  );
  await give("two", "score", { output: { value: 0.2 } });
  await give("two", "score", { output: { value: "0.9", label: "fine" } });
  await give("two", "note", { text: "Très bien" });
  await give("odd", "score", { output: { value: "n/a" } });
  await give("none", "score", { output: { value: 1 } }, { project_id: "acme/other" });
  const gone = await give("none", "score", { output: { value: 1 } });
  const purge = { $expr: { $eq: [{ $getField: "id" }, { $literal: gone }] } };
  await test.post("/feedback/purge", { project_id: "acme/mine", query: purge });
});
afterAll(() => test.close());

async function give(
  call: string,
  feedback_type: string,
  payload: object,
  more: object = {},
): Promise<string> {
  const message = { project_id: "acme/mine", feedback_type, payload, ...more };
  const weave_ref = `weave:///${message.project_id}/call/${call}`;
  const response = await test.post("/feedback/create", { weave_ref, ...message });
  expect(response.status, response.text).toBe(200);
  return (response.json() as { id: string }).id;
}

async function select(operation: object): Promise<string[]> {
  const response = await test.post("/trace/usage", { project_id: "acme/mine", query: { $expr: operation } });
  expect(response.status, response.text).toBe(200);
  return Object.keys((response.json() as { call_usage: object }).call_usage).toSorted();
}

const value = { $getField: "feedback.[score].payload.output.value" };
const label = { $getField: "feedback.[score].payload.output.label" };

describe("a feedback field in a query over calls", () => {
  it("matches if any feedback of the call matches", async () => {
    expect(await select({ $gt: [value, { $literal: 0.3 }] })).toEqual(["one", "two"]);
    expect(await select({ $lt: [value, { $literal: 0.3 }] })).toEqual(["two"]);
    expect(await select({ $in: [value, [{ $literal: 0.4 }, { $literal: 0.9 }]] })).toEqual(["one", "two"]);
    expect(await select({ $gt: [{ $convert: { input: value, to: "double" } }, { $literal: 0.5 }] })).toEqual([
      "two",
    ]);
  });

  it("converts numeric strings to numbers, but not booleans", async () => {
    const score = { $getField: "feedback.[kind].payload.v" };
    const values = { none: true, one: "1", two: 1, odd: [1] };
    for (const [call, v] of Object.entries(values)) await give(call, "kind", { v });
    expect(await select({ $gt: [score, { $literal: 0.99 }] })).toEqual(["one", "two"]);
    expect(await select({ $gte: [{ $literal: 1 }, score] })).toEqual(["one", "two"]);
    expect(await select({ $eq: [score, { $literal: 1 }] })).toEqual(["one", "two"]);
    expect(await select({ $not: [{ $gt: [score, { $literal: 0.99 }] }] })).toEqual([]);
  });

  it("is false under $not if no feedback matches, and unknown if that cannot be decided", async () => {
    expect(await select({ $not: [{ $gt: [value, { $literal: 0.5 }] }] })).toEqual(["one"]);
    expect(await select({ $not: [{ $eq: [label, { $literal: "fine" }] }] })).toEqual(["none", "odd"]);
  });

  it("is absent for a call without feedback that has it", async () => {
    expect(await select({ $eq: [label, { $literal: null }] })).toEqual(["none", "odd"]);
    expect(await select({ $eq: [label, { $literal: "" }] })).toEqual(["none", "odd"]);
    expect(await select({ $and: [{ $convert: { input: value, to: "exists" } }] })).toEqual([
      "odd",
      "one",
      "two",
    ]);
  });

  it("reads any type by *, else only the named type", async () => {
    const text = (type: string): object => ({ $getField: `feedback.[${type}].payload.text` });
    const contains = (type: string): object => ({
      $contains: { input: text(type), substr: { $literal: "TRÈS" }, case_insensitive: true },
    });
    expect(await select(contains("*"))).toEqual(["two"]);
    expect(await select(contains("note"))).toEqual(["two"]);
    expect(await select(contains("score"))).toEqual([]);
  });

  it("reads the refs besides the payload", async () => {
    const ref = { $getField: "feedback.[score].runnable_ref" };
    expect(await select({ $contains: { input: ref, substr: { $literal: "/op/judge:" } } })).toEqual(["one"]);
    expect(
      await select({ $eq: [{ $getField: "feedback.[score].trigger_ref" }, { $literal: null }] }),
    ).toEqual(ids.toSorted());
  });

  it("can be combined with conditions on the call", async () => {
    const both = [{ $gt: [value, { $literal: 0.3 }] }, { $eq: [{ $getField: "id" }, { $literal: "one" }] }];
    expect(await select({ $and: both })).toEqual(["one"]);
    expect(await select({ $or: [both[0], { $eq: [{ $getField: "inputs.x" }, { $literal: 1 }] }] })).toEqual([
      "one",
      "two",
    ]);
  });
});
