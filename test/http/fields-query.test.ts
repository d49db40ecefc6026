import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { runs } from "../helpers/runs.ts";

interface Field {
  readonly path: string;
  readonly type: string;
  readonly example: string | number | boolean | null;
}

let test: TestApp;
let calls = 0;
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => Date.parse("2026-06-01T00:00:00Z") } } });
});
afterAll(() => test.close());

async function send(project_id: string, batch: readonly object[]): Promise<void> {
  const whole = batch.map((call) => ({
    project_id,
    id: `c${calls++}`,
    trace_id: `t${calls}`,
    op_name: "op",
    started_at: "2026-05-01T00:00:00Z",
    ended_at: "2026-05-01T00:00:01Z",
    attributes: {},
    inputs: {},
    summary: {},
    ...call,
  }));
  const response = await test.post(`/v2/${project_id}/calls/complete`, { batch: whole });
  expect(response.status, response.text).toBe(200);
}

async function fieldsOf(project_id: string, more: object = {}): Promise<readonly Field[]> {
  const response = await test.post("/fields/query", { project_id, ...more });
  expect(response.status, response.text).toBe(200);
  return response.json().fields;
}

const pathsOf = async (project_id: string, more: object = {}) =>
  (await fieldsOf(project_id, more)).map(({ path }) => path);

const equals = ({ path, example }: Field) => ({ $eq: [{ $getField: path }, { $literal: example }] });

async function count(project_id: string, $expr: object): Promise<number> {
  const response = await test.post("/calls/query_stats", { project_id, query: { $expr } });
  expect(response.status, `${JSON.stringify($expr)}: ${response.text}`).toBe(200);
  return response.json().count;
}

describe("POST /fields/query", () => {
  it("lists columns with a value and paths, each with its type and an example, sorted by path; or those with a prefix", async () => {
    const project_id = "acme/listed";
    await send(project_id, [
      { inputs: { messages: [{ role: "user" }, { role: "system", only: "second" }], text: "é".repeat(300) } },
      { inputs: { big: 9007199254740993n.toString() }, output: null, thread_id: "th" },
      {
        attributes: { "team.id": "x", team: { id: true }, none: null },
        summary: { usage: { m: { requests: 2 } } },
      },
      { inputs: { user: { name: "a", age: 1 }, use: 1 }, attributes: { user: 1 } },
    ]);
    const fields = await fieldsOf(project_id);
    const byPath = Object.fromEntries(fields.map(({ path, type, example }) => [path, [type, example]]));
    expect(byPath).toMatchObject({
      project_id: ["string", project_id],
      thread_id: ["string", "th"],
      started_at: ["string", "2026-05-01T00:00:00.000000Z"],
      "summary.weave.latency_ms": ["number", 1000],
      "summary.weave.status": ["string", "success"],
      inputs: ["object", null],
      "inputs.messages": ["array", null],
      "inputs.messages.0.role": ["string", "user"],
      "inputs.text": ["string", "é".repeat(200)],
      "attributes.team\\.id": ["string", "x"],
      "attributes.team.id": ["boolean", true],
      "attributes.none": ["null", null],
      "summary.usage.m.requests": ["number", 2],
    });
    for (const absent of ["deleted_at", "input_refs", "svc_run_step", "inputs.messages.1", "summary.weave"])
      expect(byPath).not.toHaveProperty([absent]);
    const paths = fields.map(({ path }) => path);
    expect(paths).toEqual(paths.toSorted());
    expect(await pathsOf(project_id, { prefix: "inputs.user" })).toEqual([
      "inputs.user",
      "inputs.user.age",
      "inputs.user.name",
    ]);
    expect(await pathsOf(project_id, { prefix: "summary.weave.l" })).toEqual(["summary.weave.latency_ms"]);
    expect(await pathsOf(project_id, { prefix: "nothing" })).toEqual([]);
  });

  it("lists the fields of calls in the window, and none of deleted calls", async () => {
    const project_id = "acme/windows";
    await send(project_id, [
      { id: "old", inputs: { old: 1 }, started_at: "2026-01-01T00:00:00Z" },
      { id: "gone", inputs: { gone: 1 } },
      { id: "late", inputs: { late: 1 }, started_at: "2026-06-01T00:00:01Z" },
    ]);
    await test.post("/calls/delete", { project_id, call_ids: ["gone"] });
    const inputs = async (more: object) => pathsOf(project_id, { prefix: "inputs.", ...more });
    expect(await inputs({})).toEqual(["inputs.old"]);
    expect(await inputs({ end: "2026-07-01T00:00:00Z" })).toEqual(["inputs.late", "inputs.old"]);
    expect(await inputs({ start: "2026-01-01T00:00:00.000001Z" })).toEqual([]);
    const reversed = await test.post("/fields/query", { project_id, start: "2026-02-01", end: "2026-01-01" });
    expect(reversed.status).toBe(422);
  });

  it("samples the newest 1,000 calls, and leaves values out that are too large", async () => {
    const project_id = "acme/sampled";
    const newer = Array.from({ length: 999 }, () => ({ inputs: { newer: 1 } }));
    const older = ["2026-04-01T00:00:01Z", "2026-04-01T00:00:00Z"].map((started_at, place) => ({
      started_at,
      inputs: { [`older${place}`]: 1 },
      output: { large: "x".repeat(256 * 1024) },
    }));
    await send(project_id, [...older, ...newer]);
    const paths = (await pathsOf(project_id)).filter((name) => /^(inputs\.|output)/.test(name));
    expect(paths).toEqual(["inputs.newer", "inputs.older0"]);
  });

  it("lists the 1,000 fields of the most calls, and says that there are more", async () => {
    const project_id = "acme/many";
    const own = (from: number) =>
      Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`k${from + at}`, at]));
    await send(project_id, [{ inputs: { ...own(0), z: 1 } }, { inputs: { ...own(700), z: 1 } }]);
    const { fields, truncated } = (await test.post("/fields/query", { project_id })).json();
    expect(fields).toHaveLength(1000);
    expect(truncated).toBe(true);
    expect(fields.map(({ path }: Field) => path)).toContain("inputs.z");
    const few = (await test.post("/fields/query", { project_id, prefix: "inputs.k1" })).json();
    expect(few.truncated).toBe(false);
  });
});

/** Keys that a path might misread. */
const NAMES = [
  "a",
  "a.b",
  "b",
  "a..b",
  ".",
  "",
  "0",
  "-1",
  "01",
  "é",
  "x y",
  '"',
  "[x]",
  "$eq",
  "😀.😀",
  "\n",
];
const key = fc.constantFrom(
  ...NAMES,
  "a\\",
  "\\",
  "a\\.b",
  "weave",
  "usage",
  "status",
  "__proto__",
  "constructor",
);
const scalar = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1.5, 1e-7, 1e300, 2 ** 53 - 1, "", "x", "null", "1", "a\\b", "😀\n"),
  fc.string({ maxLength: 8 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5 }),
  ),
}));
const object = fc.dictionary(key, value, { minKeys: 2, maxKeys: 5 });

it("every listed field can be read, and its example found", async () => {
  let project = 0;
  const call = fc.record({ inputs: object, output: value, attributes: object, summary: object });
  await fc.assert(
    fc.asyncProperty(call, async (one) => {
      const project_id = `acme/random${project++}`;
      await send(project_id, [one]);
      const fields = await fieldsOf(project_id);
      expect(fields.length).toBeGreaterThan(10);
      const isTree = ({ type }: Field) => type === "object" || type === "array";
      const leaves = fields.filter((field) => !isTree(field));
      const $or = fields.filter(isTree).map(equals);
      expect(await count(project_id, { $or: [...$or, equals(leaves[0]!)] })).toBe(1);
      if ((await count(project_id, { $and: leaves.map(equals) })) === 1) return;
      for (const field of leaves)
        expect(await count(project_id, equals(field)), JSON.stringify(field)).toBe(1);
    }),
    { numRuns: runs(1, 40) },
  );
});
