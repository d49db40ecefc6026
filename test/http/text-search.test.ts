import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
const project_id = "acme/mine";

const answers: Readonly<Record<string, unknown>> = {
  quoted: { text: 'She said "bring the xylophone" and left.\nThen \\ nothing.' },
  street: { text: "Die Straße ist lang" },
  dotted: "İstanbul'da",
  sigma: { text: "ΣΊΣΥΦΟΣ pushed" },
  ligature: { text: "a ﬁnal oﬃce, the ﬆone, ŉ and ẖ, \u212aelvin, ſun" },
  chinese: { text: "Rabatt 你好世界 XL — größer" },
  values: { count: 12.5, ok: true, list: [1, 20, { at: "10:30" }] },
};

beforeAll(async () => {
  test = await startApp();
  const batch = Object.entries(answers).map(([id, output]) => ({
    id,
    trace_id: id,
    op_name: "op",
    started_at: "2026-03-01T12:00:00Z",
    ended_at: "2026-03-01T12:00:01Z",
    inputs: { question: `About ${id}` },
    output,
  }));
  expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
});
afterAll(() => test.close());

interface Search {
  readonly field?: string;
  readonly exact?: boolean;
}

async function found(text: string, { field = "output", exact = false }: Search = {}): Promise<string[]> {
  const $contains = {
    input: { $getField: field },
    substr: { $literal: text },
    case_insensitive: !exact,
  };
  const response = await test.post("/trace/usage", { project_id, query: { $expr: { $contains } } });
  expect(response.status, response.text).toBe(200);
  return Object.keys((response.json() as { call_usage: object }).call_usage).toSorted();
}

const path = { field: "output.text" };

describe("a text search by $contains", () => {
  it("finds text across characters that JSON escapes", async () => {
    for (const exact of [true, false]) {
      expect(await found('said "bring the', { ...path, exact })).toEqual(["quoted"]);
      expect(await found('xylophone" and left.\nThen \\', { ...path, exact })).toEqual(["quoted"]);
      expect(await found('"', { ...path, exact })).toEqual(["quoted"]);
      expect(await found('said "take the', { ...path, exact })).toEqual([]);
    }
    expect(await found('{"text":"Die Stra', { exact: true })).toEqual(["street"]);
  });

  it("folds the case of all letters", async () => {
    expect(await found("STRASSE")).toEqual(["street"]);
    expect(await found("SSE IST")).toEqual(["street"]);
    expect(await found("ẞe ist")).toEqual(["street"]);
    expect(await found("Sisyphos")).toEqual([]);
    expect(await found("σίσυφος PUSHED")).toEqual(["sigma"]);
    expect(await found("i\u0307STAN")).toEqual(["dotted"]);
    expect(await found("istan")).toEqual([]);
  });

  it("finds a part of what a single character folds to", async () => {
    expect(await found("A FINAL OFF")).toEqual(["ligature"]);
    expect(await found("nal of")).toEqual(["ligature"]);
    expect(await found("INAL O")).toEqual(["ligature"]);
    expect(await found("fice")).toEqual(["ligature"]);
    expect(await found("the s")).toEqual(["ligature"]);
    expect(await found("Tone")).toEqual(["ligature"]);
    expect(await found("and h")).toEqual(["ligature"]);
    expect(await found("n and")).toEqual(["ligature"]);
    expect(await found("Kelvin, SUN")).toEqual(["ligature"]);
  });

  it("finds letters without case beside others", async () => {
    expect(await found("RABATT 你好世界 xl")).toEqual(["chinese"]);
    expect(await found("世界 XL — GRÖSSER")).toEqual(["chinese"]);
    expect(await found("世好")).toEqual([]);
    expect(await found("你好", { exact: true })).toEqual(["chinese"]);
  });

  it("finds the text of numbers, booleans and lists", async () => {
    expect(await found("2.5", { field: "output.count" })).toEqual(["values"]);
    expect(await found("RU", { field: "output.ok" })).toEqual(["values"]);
    expect(await found("[1,20,{")).toEqual(["values"]);
    expect(await found("20,{", { exact: true })).toEqual(["values"]);
    expect(await found("10:30")).toEqual(["values"]);
    expect(await found("0:3", { exact: true })).toEqual(["values"]);
  });

  it("finds short texts, and the empty one in every call", async () => {
    expect(await found("XL", { exact: true })).toEqual(["chinese"]);
    expect(await found("ö")).toEqual(["chinese"]);
    expect(await found("", { field: "output.missing" })).toEqual(Object.keys(answers).toSorted());
  });

  it("searches the last text of a call, whose events are stored apart", async () => {
    const call = { project_id, id: "apart", trace_id: "apart" };
    const start = { ...call, op_name: "op", started_at: "2026-03-01T12:00:00Z", attributes: {} };
    const send = (path: string, body: object): Promise<unknown> => test.post(path, body);
    await send("/call/start", { start: { ...start, inputs: { question: "first zebra" } } });
    await send("/call/end", {
      end: { ...call, ended_at: "2026-03-01T12:00:01Z", output: "an okapi", summary: {} },
    });
    expect(await found("ZEBRA", { field: "inputs.question" })).toEqual(["apart"]);
    await send("/call/start", { start: { ...start, inputs: { question: "second quagga" } } });
    expect(await found("ZEBRA", { field: "inputs.question" })).toEqual([]);
    expect(await found("quagga", { field: "inputs" })).toEqual(["apart"]);
    expect(await found("okapi", { exact: true })).toEqual(["apart"]);
  });
});
