import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { materializeAll } from "../helpers/materialize.ts";
import { isLong } from "../helpers/runs.ts";
import { startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/list";
const DAYS = { start: "2026-01-02T00:00:00Z", end: "2026-01-04T00:00:00Z" };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface Draft {
  readonly id: string;
  readonly trace: string;
  readonly parent?: string;
  /** Milliseconds of the window. */
  readonly at: number;
  readonly tokens?: number;
  readonly more?: object;
}

function callOf({ id, trace, parent, at, tokens, more = {} }: Draft) {
  const started = Date.parse(DAYS.start) + at;
  const usage = { "gpt-4o": { requests: 1, prompt_tokens: tokens ?? 0 } };
  return {
    id,
    trace_id: trace,
    parent_id: parent ?? null,
    op_name: parent === undefined ? "answer" : "ask",
    started_at: new Date(started).toISOString(),
    ended_at: new Date(started + 500).toISOString(),
    inputs: {},
    attributes: {},
    output: null,
    summary: tokens === undefined ? {} : { usage },
    ...more,
  };
}

async function ingest(project: string, drafts: readonly Draft[]): Promise<void> {
  const answer = await test.post(`/v2/${project}/calls/complete`, { batch: drafts.map(callOf) });
  expect(answer.json(), answer.text).toEqual({ rejected: [] });
}

const query = async (more: object = {}) => {
  const answer = await test.post("/traces/query", { project_id, ...DAYS, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
};
const idsOf = async (more: object = {}): Promise<string[]> =>
  (await query(more)).traces.map(({ trace_id }: { trace_id: string }) => trace_id);
const contains = (field: string, text: string) => ({
  $expr: {
    $contains: { input: { $getField: field }, substr: { $literal: text }, case_insensitive: true },
  },
});
const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

const DRAFTS: readonly Draft[] = [
  {
    id: "a",
    trace: "ta",
    at: HOUR,
    more: {
      inputs: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Yes?" },
          { role: "user", content: "Where is my <b>Parcel</b>?" },
        ],
      },
      output: { choices: [{ message: { role: "assistant", content: "On its way" } }] },
      wb_user_id: "ann",
      thread_id: "th",
    },
  },
  { id: "a1", trace: "ta", parent: "a", at: HOUR + 10, tokens: 1000 },
  {
    id: "a2",
    trace: "ta",
    parent: "a",
    at: HOUR + 20,
    tokens: 500,
    more: { exception: "boom", wb_user_id: "bob" },
  },
  { id: "a3", trace: "ta", parent: "a2", at: HOUR + 30, tokens: 200 },
  { id: "b", trace: "tb", at: 2 * HOUR, tokens: 4000, more: { output: { text: "un café\nparcel" } } },
  {
    id: "c",
    trace: "tc",
    at: 3 * HOUR,
    more: {
      ended_at: null,
      summary: { usage: { "no-such-model": { requests: 1, prompt_tokens: 7 } } },
      attributes: { version: "1.4" },
    },
  },
  { id: "d1", trace: "td", parent: "never-came", at: 4 * HOUR, tokens: 2000 },
  { id: "e", trace: "te", at: 24 * HOUR - 5 },
  { id: "e1", trace: "te", parent: "e", at: 24 * HOUR + 5, tokens: 100 },
];
/** Roots before and after the window of calls in it. */
const EARLY: readonly Draft[] = [
  { id: "early", trace: "tf", at: -1, tokens: 100 },
  { id: "f1", trace: "tf", parent: "early", at: 1, tokens: 100 },
];
const LATE: readonly Draft[] = [
  { id: "late", trace: "uf", at: 2 * DAY, tokens: 100 },
  { id: "f2", trace: "uf", parent: "late", at: 2 * DAY - 1, tokens: 100 },
];

/** The same on the second day: `ta` is `ua`, and `a1` is `a1-2`. */
const nextDay = ({ id, trace, parent, at, ...more }: Draft): Draft => ({
  ...more,
  id: `${id}-2`,
  trace: trace.replace("t", "u"),
  ...(parent !== undefined && { parent: `${parent}-2` }),
  at: at + DAY,
});

const FEEDBACK = [
  ["a1", { score: 1 }],
  ["a2", { score: 0 }],
  ["a2", { note: "bad" }],
] as const;

beforeAll(async () => {
  await Promise.all([ingest(project_id, [...DRAFTS, ...EARLY]), storePages(), storeDeleted()]);
  expect(await materializeAll(test.engine)).toBeGreaterThan(0);
  await ingest(project_id, [...DRAFTS.map(nextDay), ...LATE]);
  const batch = FEEDBACK.flatMap(([id, payload]) =>
    [id, `${id}-2`].map((about) => ({
      project_id,
      weave_ref: `weave:///${project_id}/call/${about}`,
      feedback_type: "eval",
      payload,
    })),
  );
  expect((await test.post("/feedback/batch/create", { batch })).json().rejected).toEqual([]);
});

type Finding = readonly [request: object, traces: readonly string[]];

/** Ids of the traces of both days; the letters are the second of each id. */
const ofBothDays = (letters: string, days = ["t", "u"]): string[] =>
  days.flatMap((day) => letters.split("").map((letter) => day + letter));
const newestFirst = (letters: string): string[] => ofBothDays(letters, ["u", "t"]);

// the first day is in the usage rollup, the second is not
describe("POST /traces/query", () => {
  it("lists the traces whose root started in the window, newest first, and sums all of them", async () => {
    const answer = await query();
    expect(answer.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(newestFirst("edcba"));
    expect(answer.traces.at(-1)).toEqual({
      trace_id: "ta",
      root: {
        id: "a",
        op_name: "answer",
        display_name: null,
        started_at: "2026-01-02T01:00:00.000000Z",
        ended_at: "2026-01-02T01:00:00.500000Z",
        svc_user_id: "ann",
        thread_id: "th",
        exception: null,
        input_preview: "Where is my <b>Parcel</b>?",
        output_preview: "On its way",
      },
      calls: 4,
      failed: 1,
      unfinished: 0,
      total_tokens: 1700,
      total_cost: 0.00425,
      partial: false,
      wasted_cost: 0.00175,
      models: ["gpt-4o"],
      latency_ms: 500,
      feedback: [{ feedback_type: "eval", count: 3, avg: 0.5 }],
    });
    const { traces } = answer;
    expect(traces[6]).toMatchObject({ root: null, calls: 1, latency_ms: null, total_cost: 0.005 });
    expect(traces[7]).toMatchObject({
      root: { ended_at: null, input_preview: null },
      latency_ms: null,
      unfinished: 1,
      total_cost: null,
      partial: true,
      wasted_cost: 0,
    });
    const withoutTime = ({ trace_id: _id, root, ...figures }: { trace_id: string; root: object | null }) => ({
      ...figures,
      root: root && { ...root, id: "", started_at: "", ended_at: "" },
    });
    expect(traces.slice(0, 5).map(withoutTime)).toEqual(traces.slice(5).map(withoutTime));
    expect(answer.total).toEqual({
      traces: 10,
      calls: 18,
      failed: 2,
      unfinished: 2,
      total_tokens: 15_614,
      total_cost: 0.039,
      partial: true,
      wasted_cost: 0.0035,
    });
    expect(answer.next_page_token).toBeNull();
  });

  it.each<Finding>([
    [{ any_call: { query: equals("exception", "boom"), filter: { svc_user_ids: ["ann"] } } }, []],
    [
      { filter: { trace_ids: ["ta", "tf", "uf"] }, start: "1970-01-01T00:00:00Z", end: null },
      ["uf", "ta", "tf"],
    ],
    [
      { query: equals("attributes.version", "1.4"), any_call: { filter: { op_names: ["answer"] } } },
      newestFirst("c"),
    ],
    [{ any_call: { filter: { op_names: ["ask"] } } }, newestFirst("eda")],
    [{ filter: { trace_roots_only: true } }, newestFirst("ecba")],
  ])("finds %j", async (more, expected) => {
    const found = await query(more);
    expect(found.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(expected);
    expect(found.total.traces).toBe(expected.length);
    const calls = found.traces.map((trace: { calls: number }) => trace.calls);
    expect(found.total.calls).toBe(calls.reduce((sum: number, count: number) => sum + count, 0));
  });

  it("counts values of fields, each without its own condition", async () => {
    const facetsOf = async (more: object) => {
      const answer = await test.post("/traces/facets", { project_id, ...DAYS, ...more });
      expect(answer.status, answer.text).toBe(200);
      return answer.json().facets;
    };
    const value = (name: unknown, traces: number, total_cost: number | null, partial = false) => ({
      value: name,
      traces,
      total_cost,
      partial,
    });
    const fields = ["status", "provider", "feedback", { $getField: "attributes.version" }];
    expect(await facetsOf({ fields })).toEqual([
      {
        field: "status",
        values: [value("success", 6, 0.029), value(null, 2, 0.01), value("running", 2, null, true)],
        other: 0,
      },
      { field: "provider", values: [value("openai", 8, 0.039), value(null, 2, null, true)], other: 0 },
      { field: "feedback", values: [value(null, 8, 0.0305, true), value("eval", 2, 0.0085)], other: 0 },
      {
        field: "attributes.version",
        values: [value(null, 8, 0.039), value("1.4", 2, null, true)],
        other: 0,
      },
    ]);
    const own = await facetsOf({
      fields: ["svc_user_id", "thread_id"],
      filter: { svc_user_ids: ["ann"] },
      query: { $expr: { $and: [equals("svc_user_id", "ann").$expr, equals("thread_id", "nobody").$expr] } },
      limit: 1,
    });
    expect(own).toEqual([
      { field: "svc_user_id", values: [], other: 0 },
      { field: "thread_id", values: [value("th", 2, 0.0085)], other: 0 },
    ]);
  });
});

describe("/traces", () => {
  it("counts absent and null values of a field together, and finds both by null", async () => {
    const project_id = "acme/nulls";
    const mood: readonly unknown[] = [undefined, null, "null", null, undefined, null, "happy"];
    const drafts = mood.map((value, at) => ({
      id: `n${at}`,
      trace: `t-n${at}`,
      at,
      more: { attributes: { mood: value, team: { id: value } }, output: value },
    }));
    await ingest(project_id, drafts);
    expect(await materializeAll(test.engine)).toBeGreaterThan(0);
    await ingest(project_id, drafts.map(nextDay));
    const counts = new Map(
      mood.map((one) => [one ?? null, 2 * mood.filter((other) => (other ?? null) === (one ?? null)).length]),
    );
    for (const field of isLong ? ["attributes.mood", "attributes.team.id", "output"] : ["attributes.mood"]) {
      const asked = { project_id, ...DAYS, fields: [{ $getField: field }] };
      for (const more of [{ query: equals(field, null) }, ...(isLong ? [{}] : [])]) {
        const { facets } = (await test.post("/traces/facets", { ...asked, ...more })).json();
        const values = facets[0].values.map(({ value, traces }: { value: unknown; traces: number }) => [
          value,
          traces,
        ]);
        expect([field, new Map(values), values.length]).toEqual([field, counts, counts.size]);
      }
      for (const [value, traces] of isLong ? counts : [...counts].slice(0, 1))
        expect([
          field,
          value,
          (await query({ project_id, query: equals(field, value) })).total.traces,
        ]).toEqual([field, value, traces]);
      const stats = await test.post("/usage/stats", {
        project_id,
        ...DAYS,
        group_by: [{ $getField: field }],
      });
      const groups = stats
        .json()
        .groups.map(({ key, total }: { key: Record<string, unknown>; total: { calls: number } }) => [
          key[field],
          total.calls,
        ]);
      expect(new Map(groups)).toEqual(counts);
    }
  });

  it.each([
    [
      "/traces/query",
      { any_call: { statuses: ["error"] } },
      ["body", "any_call", "statuses"],
      "Extra inputs",
    ],
    [
      "/traces/query",
      { order_by: "total_costs" },
      ["body", "order_by"],
      "Did you mean total_cost or total_tokens?",
    ],
    ["/traces/query", { page_token: "nonsense" }, ["body", "page_token"], "Invalid page token"],
    ["/traces/query", { end: "2026-01-01T00:00:00Z" }, ["body", "end"], "before start"],
    [
      "/traces/query",
      { any_call: { query: equals("user", "bob") } },
      ["body", "any_call", "query", "$expr", "$eq", 0, "$getField"],
      "Unknown field",
    ],
    [
      "/traces/query",
      { totals: { total_costs: { gt: 1 } } },
      ["body", "totals", "total_costs"],
      "Did you mean total_cost",
    ],
    [
      "/traces/facets",
      { fields: ["llm"], totals: { calls: { gt: 1.5 } } },
      ["body", "totals", "calls", "gt"],
      "",
    ],
    ["/traces/facets", { fields: ["llms"] }, ["body", "fields", 0], "Did you mean llm?"],
    ["/traces/facets", { fields: ["llm", "llm"] }, ["body", "fields", 1], "twice"],
    [
      "/traces/facets",
      { fields: [{ $getField: "op_nam" }] },
      ["body", "fields", 0, "$getField"],
      "Did you mean op_name?",
    ],
  ])("%s rejects %j with the place", async (url, more, loc, message) => {
    const answer = await test.post(url, { project_id, ...DAYS, ...more });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json().detail[0].loc).toEqual(loc);
    expect(answer.json().detail[0].msg).toContain(message);
  });

  it("rejects a page token of another question", async () => {
    for (const more of [
      { order_by: "calls" },
      { direction: "asc" },
      { start: "2026-01-01T00:00:00Z" },
      { totals: { calls: { gte: 0 } } },
    ]) {
      const answer = await test.post("/traces/query", { ...PAGES, ...more, page_token: pageToken });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain("another query");
    }
  });

  it("rejects a page token with another end or rank, and takes the outermost ones", async () => {
    const fields = JSON.parse(Buffer.from(pageToken, "base64url").toString()) as unknown[];
    const ask = (changed: readonly unknown[]) => {
      const page_token = Buffer.from(JSON.stringify(changed)).toString("base64url");
      return test.post("/traces/query", { ...PAGES, page_token });
    };
    const [END, RANK] = [1, 3];
    for (const [place, values] of [
      [END, [1.5, 1e300, 2 ** 53, "1", null]],
      [RANK, ["1.5", "1e3", "", "9".repeat(39), 1, null]],
    ] as const)
      for (const value of values) {
        const { status, text } = await ask(fields.with(place, value));
        expect([value, status, text]).toEqual([value, 422, expect.stringContaining('["body","page_token"]')]);
      }
    const early = await ask(fields.with(END, Number.MIN_SAFE_INTEGER));
    expect([early.status, early.json().detail[0].loc]).toEqual([422, ["body", "end"]]);
    const outermost = fields.with(END, Number.MAX_SAFE_INTEGER).with(RANK, `-${"9".repeat(38)}`);
    expect((await ask(outermost)).json()).toMatchObject({ total: { traces: 5 } });
  });

  it("keeps the place of a page while traces come in, also after a restart", async () => {
    await ingest(PAGES.project_id, [{ id: "new", trace: "new", at: 0, tokens: 9000 }]);
    const restarted = await startAppOn(test.engine);
    const answer = await restarted.post("/traces/query", { ...PAGES, page_token: pageToken });
    await restarted.close();
    expect(answer.json().traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(["t2", "t3"]);
  });

  it("omits deleted calls and traces, and goes on without a deleted root", async () => {
    const ofDeleted = { project_id: DELETED, direction: "asc" };
    const remove = (...call_ids: string[]) => test.post("/calls/delete", { project_id: DELETED, call_ids });
    const any_call = { query: contains("inputs", "parcel") };
    await remove("a");
    expect(await idsOf({ ...ofDeleted, any_call })).toEqual(["tb", "tc"]);
    await remove("b");
    await ingest(DELETED, [{ id: "b2", trace: "tb", parent: "b", at: HOUR, tokens: 100 }]);
    // the calls below a deleted one are deleted too; a late one is not
    expect((await query(ofDeleted)).traces).toMatchObject([
      { trace_id: "tb", root: null, calls: 1, total_tokens: 100 },
      { trace_id: "tc", calls: 1 },
    ]);
  });
});

const PAGES = {
  project_id: "acme/list-pages",
  start: DAYS.start,
  end: null,
  limit: 2,
  order_by: "total_cost",
};
let pageToken: string;

/** Five traces, and the token of their first page, when they are not in the usage rollup yet. */
async function storePages(): Promise<void> {
  const drafts = [5000, 4000, 3000, 2000, 1000].map((tokens, number) => {
    const id = `t${number}`;
    return { id, trace: id, at: number * HOUR, tokens };
  });
  await ingest(PAGES.project_id, drafts);
  pageToken = (await query(PAGES)).next_page_token;
  expect(pageToken).toEqual(expect.any(String));
}

const DELETED = "acme/list-deleted";

async function storeDeleted(): Promise<void> {
  const more = { inputs: { text: "parcel" } };
  await ingest(DELETED, [
    { id: "a", trace: "ta", at: HOUR, more },
    { id: "b", trace: "tb", at: HOUR },
    { id: "b1", trace: "tb", parent: "b", at: HOUR, tokens: 100, more },
    { id: "c", trace: "tc", at: HOUR, more },
  ]);
}
