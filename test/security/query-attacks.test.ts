import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { isLong } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

const MINE = ["mine-1", "mine-2"];
/** Fraction of the texts that `npm test` tries at each position: 1 in STEP. */
const STEP = isLong ? 1 : 24;
const seed = chosenSeed();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  await ingest("acme/mine", MINE);
  await ingest("victim/theirs", ["victim-1", "victim-2"]);
});
afterAll(() => test.close());

async function ingest(project: string, ids: readonly string[]): Promise<void> {
  const batch = ids.map((id) => ({
    id,
    trace_id: `trace-of-${id}`,
    op_name: "op",
    started_at: "2026-03-01T12:00:00Z",
    ended_at: "2026-03-01T12:00:01Z",
    inputs: { x: "secret", n: 1 },
    output: null,
    attributes: {},
    summary: {},
  }));
  expect((await test.post(`/v2/${project}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
}

/** Text that means something to SQL, to ClickHouse's parameters, to JSON, to LIKE or to JavaScript. */
const injections = [
  "' OR 1=1 --",
  "') OR 1=1 --",
  "'; DROP TABLE calls; --",
  "\\'; DROP TABLE calls; --",
  "\\",
  "\\\\",
  "'",
  "''",
  '"',
  "`",
  "x' UNION ALL SELECT id FROM calls WHERE project_id = 'victim/theirs",
  "1) OR project_id = 'victim/theirs' OR (1",
  "{p0:String}",
  "{project:Identifier}",
  "{{on_cluster}}",
  "${process.env.ROOT_API_KEY}",
  "/* */ OR /* */ 1",
  "-- x\nOR 1",
  "#",
  ";",
  "$$x$$",
  "%",
  "_",
  "%' AND sleep(3) AND '%",
  "\0",
  "a\0b",
  "\u0001\u001f\u007f",
  "\n",
  "\r\n",
  "\t",
  "\\N",
  "\\x00",
  "\\u0000",
  "\ud800",
  "\udfff\ud800",
  "\u202e",
  "\u2028",
  "😀".repeat(100),
  "null",
  "NULL",
  "true",
  "[]",
  "{}",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "$where",
  "$function",
  "file('/etc/passwd')",
  "url('http://127.0.0.1')",
  "system.query_log",
];

function ask(body: object): Promise<TestResponse> {
  return test.post("/trace/usage", { project_id: "acme/mine", ...body });
}

async function expectHarmless(body: object, allowed: readonly number[] = [200, 422]): Promise<TestResponse> {
  const response = await ask(body);
  expect(
    allowed,
    `${response.status} for ${JSON.stringify(body).slice(0, 200)}: ${response.text.slice(0, 500)}`,
  ).toContain(response.status);
  if (response.status === 200) {
    const ids = Object.keys((response.json() as { call_usage: object }).call_usage);
    expect(
      ids.filter((id) => !MINE.includes(id)),
      JSON.stringify(body),
    ).toEqual([]);
  }
  return response;
}

const places: readonly [string, (text: string) => object][] = [
  ["a literal", (text) => ({ query: { $expr: { $eq: [{ $getField: "inputs.x" }, { $literal: text }] } } })],
  [
    "a literal under $not",
    (text) => ({ query: { $expr: { $not: [{ $eq: [{ $getField: "op_name" }, { $literal: text }] }] } } }),
  ],
  [
    "a literal of a list",
    (text) => ({ query: { $expr: { $in: [{ $getField: "id" }, [{ $literal: text }, { $literal: 1 }]] } } }),
  ],
  [
    "a substring",
    (text) => ({
      query: { $expr: { $contains: { input: { $getField: "inputs.x" }, substr: { $literal: text } } } },
    }),
  ],
  [
    "a substring without case",
    (text) => ({
      query: {
        $expr: {
          $contains: { input: { $getField: "inputs" }, substr: { $literal: text }, case_insensitive: true },
        },
      },
    }),
  ],
  ["a field", (text) => ({ query: { $expr: { $eq: [{ $getField: text }, { $literal: "x" }] } } })],
  ["a path", (text) => ({ query: { $expr: { $eq: [{ $getField: `inputs.${text}` }, { $literal: "x" }] } } })],
  [
    "a path of indexes",
    (text) => ({ query: { $expr: { $eq: [{ $getField: `output.0.${text}.1.2` }, { $literal: "x" }] } } }),
  ],
  [
    "a feedback type",
    (text) => ({
      query: { $expr: { $eq: [{ $getField: `feedback.[${text}].payload.${text}` }, { $literal: "x" }] } },
    }),
  ],
  ["a number in text", (text) => ({ query: { $expr: { $gt: [{ $literal: text }, { $literal: 1 }] } } })],
  ["a date", (text) => ({ query: { $expr: { $gt: [{ $getField: "started_at" }, { $literal: text }] } } })],
  [
    "a conversion",
    (text) => ({
      query: { $expr: { $eq: [{ $convert: { input: { $literal: text }, to: "int" } }, { $literal: 1 }] } },
    }),
  ],
  [
    "a conversion's target",
    (text) => ({ query: { $expr: { $convert: { input: { $literal: 1 }, to: text } } } }),
  ],
  [
    "a structured literal",
    (text) => ({
      query: {
        $expr: {
          $contains: { input: { $literal: { [text]: { $literal: text } } }, substr: { $literal: "x" } },
        },
      },
    }),
  ],
  ["an operator", (text) => ({ query: { $expr: { [text]: [{ $literal: 1 }, { $literal: 1 }] } } })],
  ["an operand", (text) => ({ query: { $expr: { $and: [{ [text]: 1 }] } } })],
  ["a member of the query", (text) => ({ query: { $expr: { $and: [{ $literal: true }] }, [text]: 1 } })],
  ["trace ids", (text) => ({ filter: { trace_ids: [text] } })],
  ["call ids", (text) => ({ filter: { call_ids: [text, "mine-1"] } })],
  ["operations", (text) => ({ filter: { op_names: [text, `${text}:*`] } })],
  [
    "many operations",
    (text) => ({ filter: { op_names: Array.from({ length: 40 }, (_, n) => `${n}${text}:*`) } }),
  ],
  ["refs", (text) => ({ filter: { input_refs: [text], output_refs: [`${text}:*`] } })],
  [
    "users, runs, threads, turns and parents",
    (text) => ({
      filter: {
        svc_user_ids: [text],
        svc_run_ids: [text],
        thread_ids: [text],
        turn_ids: [text],
        parent_ids: [text],
      },
    }),
  ],
  ["a member of the filter", (text) => ({ filter: { [text]: ["x"] } })],
];

describe("text with a meaning in SQL or regular expressions", () => {
  it.each(places.map(([name, place], index) => [name, place, index] as const))(
    "is only text as %s",
    async (_, place, index) => {
      for (const [at, text] of injections.entries())
        if ((at + index + seed) % STEP === 0) await expectHarmless(place(text));
    },
  );

  it("is found as text", async () => {
    const batch = injections.map((text, index) => ({
      id: `i${index}`,
      trace_id: "t",
      op_name: "op",
      started_at: "2026-03-01T12:00:00Z",
      inputs: { text, [`k${text}`]: "found" },
      attributes: {},
    }));
    expect((await test.post("/v2/acme/injected/calls/complete", { batch })).json()).toEqual({ rejected: [] });
    for (const [index, text] of injections.entries()) {
      if ((index + seed) % (STEP / 4) >= 1) continue;
      const escaped = text.replaceAll(".", String.raw`\.`);
      const byValue = { $expr: { $eq: [{ $getField: "inputs.text" }, { $literal: text }] } };
      const byKey = { $expr: { $eq: [{ $getField: `inputs.k${escaped}` }, { $literal: "found" }] } };
      for (const query of [byValue, byKey]) {
        const response = await test.post("/trace/usage", { project_id: "acme/injected", query });
        const ids = Object.keys((response.json() as { call_usage: object }).call_usage);
        expect(ids, JSON.stringify(query)).toContain(`i${index}`);
        // Lone surrogates are all stored as the replacement character; nothing else is ever taken for another.
        expect(ids.length, JSON.stringify(query)).toBeLessThanOrEqual(text.isWellFormed() ? 1 : 2);
      }
    }
  });

  it("does not change the tables", async () => {
    const rows = await test.engine.rows<{ calls: number }>(
      sql`SELECT count() AS calls FROM calls FINAL WHERE project_id IN ('acme/mine', 'victim/theirs')`,
      { name: "test_count" },
    );
    expect(rows).toEqual([{ calls: 4 }]);
  });
});

describe("a query for another project's calls", () => {
  it.each([
    { $eq: [{ $getField: "project_id" }, { $literal: "victim/theirs" }] },
    { $or: [{ $literal: true }, { $eq: [{ $getField: "project_id" }, { $literal: "victim/theirs" }] }] },
    { $in: [{ $getField: "id" }, [{ $literal: "victim-1" }]] },
    { $not: [{ $eq: [{ $getField: "project_id" }, { $literal: "acme/mine" }] }] },
    { $eq: [{ $literal: 1 }, { $literal: 1 }] },
  ])("returns none of them: %j", async ($expr) => {
    await expectHarmless({ query: { $expr } }, [200]);
  });

  it.each([{ trace_ids: ["trace-of-victim-1"] }, { call_ids: ["victim-1"] }])(
    "returns none of them: %j",
    async (filter) => {
      const response = await expectHarmless({ filter }, [200]);
      expect(response.json()).toEqual({ call_usage: {}, unfinished_call_ids: [] });
    },
  );
});

describe("input above the limits", () => {
  const deep = (levels: number, open: string, innermost: string, close: string): string =>
    `{"project_id":"acme/mine","query":{"$expr":${open.repeat(levels)}${innermost}${close.repeat(levels)}}}`;
  const one = '{"$eq":[{"$literal":1},{"$literal":1}]}';

  it.each([
    ["10,000 operations in each other", deep(10_000, '{"$not":[', one, "]}")],
    ["10,000 conversions in each other", deep(10_000, '{"$convert":{"to":"int","input":', one, "}}")],
    ["10,000 literals in each other", deep(10_000, '{"$literal":[', '{"$literal":1}', "]}")],
    ["10,000 lists in each other", deep(10_000, "[", "", "]")],
    ["10,000 objects in each other", deep(10_000, '{"$and":', "1", "}")],
    ["100,000 digits", deep(0, "", `{"$eq":[{"$literal":1},{"$literal":${"9".repeat(100_000)}}]}`, "")],
    [
      "30,000 operands",
      deep(1, '{"$or":[', Array.from({ length: 30_000 }, () => '{"$literal":1}').join(","), "]}"),
    ],
    [
      "30,000 operators in one object",
      deep(1, "{", Array.from({ length: 30_000 }, (_, n) => `"$${n}":1`).join(","), "}"),
    ],
    [
      "a field of 100,000 parts",
      deep(0, "", `{"$eq":[{"$getField":"inputs${".a".repeat(100_000)}"},{"$literal":1}]}`, ""),
    ],
    [
      "a field's name of 900,000 characters",
      deep(0, "", `{"$eq":[{"$getField":"${"a".repeat(900_000)}"},{"$literal":1}]}`, ""),
    ],
  ])("is rejected: %s", async (_, body) => {
    const response = await test.post("/trace/usage", body);
    expect(response.status, response.text.slice(0, 300)).toBe(422);
    expect(response.text.length).toBeLessThan(50_000);
  });

  it("is rejected with the exceeded limit: 10,001 members of a filter", async () => {
    const response = await ask({ filter: { svc_run_ids: Array.from({ length: 10_001 }, String) } });
    expect(response.status).toBe(422);
    expect(response.json()).toMatchObject({
      detail: [{ loc: ["body", "filter", "svc_run_ids"], type: "too_long" }],
    });
  });

  it("is accepted at the limit: 10,000 members in every list, a literal of 900,000 characters", async () => {
    const list = Array.from({ length: 10_000 }, (_, n) => `v${n}:*`);
    await expectHarmless({ filter: { op_names: list, input_refs: list } }, [200]);
    const literal = { $literal: "é\"'\\".repeat(100_000) };
    await expectHarmless(
      { query: { $expr: { $contains: { input: { $getField: "inputs.x" }, substr: literal } } } },
      [200],
    );
    await expectHarmless(
      { query: { $expr: { $eq: [{ $getField: `inputs.${"k".repeat(900_000)}` }, { $literal: "x" }] } } },
      [200],
    );
  });
});
