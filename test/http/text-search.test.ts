import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project } from "../../src/shared/project.ts";
import { selectByQueries } from "../helpers/select-by-queries.ts";
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

function contains(text: string, { field = "output", exact = false }: Search = {}): object {
  const input = { $getField: field };
  return { $expr: { $contains: { input, substr: { $literal: text }, case_insensitive: !exact } } };
}

async function found(text: string, search: Search = {}): Promise<string[]> {
  const response = await test.post("/trace/usage", { project_id, query: contains(text, search) });
  expect(response.status, response.text).toBe(200);
  return Object.keys((response.json() as { call_usage: object }).call_usage).toSorted();
}

const exact = { exact: true };
const path = { field: "output.text" };

/** Texts, and the calls that have them. */
const searches: Readonly<
  Record<string, readonly (readonly [text: string, ids: readonly string[], search?: Search])[]>
> = {
  "text across characters that JSON escapes": [
    ...[true, false].flatMap(
      (isExact) =>
        [
          ['said "bring the', ["quoted"], { ...path, exact: isExact }],
          ['xylophone" and left.\nThen \\', ["quoted"], { ...path, exact: isExact }],
          ['"', ["quoted"], { ...path, exact: isExact }],
          ['said "take the', [], { ...path, exact: isExact }],
        ] as const,
    ),
    ['{"text":"Die Stra', ["street"], exact],
  ],
  "all letters in any case": [
    ["STRASSE", ["street"]],
    ["SSE IST", ["street"]],
    ["ẞe ist", ["street"]],
    ["Sisyphos", []],
    ["σίσυφος PUSHED", ["sigma"]],
    ["i\u0307STAN", ["dotted"]],
    ["istan", []],
  ],
  "a part of what a single character folds to": [
    ["A FINAL OFF", ["ligature"]],
    ["nal of", ["ligature"]],
    ["INAL O", ["ligature"]],
    ["fice", ["ligature"]],
    ["the s", ["ligature"]],
    ["Tone", ["ligature"]],
    ["and h", ["ligature"]],
    ["n and", ["ligature"]],
    ["Kelvin, SUN", ["ligature"]],
  ],
  "letters without case beside others": [
    ["RABATT 你好世界 xl", ["chinese"]],
    ["世界 XL — GRÖSSER", ["chinese"]],
    ["世好", []],
    ["你好", ["chinese"], exact],
  ],
  "the text of numbers, booleans and lists": [
    ["2.5", ["values"], { field: "output.count" }],
    ["RU", ["values"], { field: "output.ok" }],
    ["[1,20,{", ["values"]],
    ["20,{", ["values"], exact],
    ["10:30", ["values"]],
    ["0:3", ["values"], exact],
  ],
  "short texts, and the empty one in every call": [
    ["XL", ["chinese"], exact],
    ["ö", ["chinese"]],
    ["", Object.keys(answers).toSorted(), { field: "output.missing" }],
  ],
};

describe("a text search by $contains", () => {
  it.each(Object.entries(searches))("finds %s", async (_name, some) => {
    const queries = some.map(([text, , search]) => contains(text, search));
    const ids = await selectByQueries(test.engine, project_id as Project, queries);
    expect(some.map(([text], place) => [text, ids[place]])).toEqual(some.map(([text, own]) => [text, own]));
  });

  it("finds the same in a request", async () => {
    expect(await found("ẞe ist")).toEqual(["street"]);
    expect(await found('xylophone" and left.\nThen \\', path)).toEqual(["quoted"]);
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
    expect(await found("okapi", exact)).toEqual(["apart"]);
  });
});
