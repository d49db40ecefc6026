import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorization, ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/graded";
const CALL = `weave:///${project_id}/call/`;
/** The clocks of New York skip an hour on 8 March 2026. */
const WINDOW = {
  start: "2026-03-07T05:00:00Z",
  end: "2026-03-10T04:00:00Z",
  timezone: "America/New_York",
  granularity: 86_400,
};
const DAYS = ["2026-03-07T05:00:00.000Z", "2026-03-08T05:00:00.000Z", "2026-03-09T04:00:00.000Z"];

type Key = Readonly<Record<string, string | number | null>>;
type Usage = Readonly<Record<string, object>>;

interface Call {
  readonly id: string;
  readonly op: string;
  readonly usage: Usage;
  readonly attributes?: object;
  readonly key: Key;
}

const tokens = (total: number, more: object = {}) => ({ prompt_tokens: total, requests: 1, ...more });

/** Calls, and their values as they were meant: the oracle reads nothing that the service has computed. */
const CALLS: readonly Call[] = [
  {
    id: "small",
    op: "ask",
    usage: { "gpt-4o-mini": tokens(10) },
    attributes: { tenant: "a", tier: 1 },
    key: {
      llm: "gpt-4o-mini",
      provider: "openai",
      op_name: "ask",
      "attributes.tenant": "a",
      "attributes.tier": 1,
    },
  },
  {
    id: "large",
    op: "ask",
    usage: { "gpt-4o-mini": tokens(10), "gpt-4o": tokens(500) },
    attributes: { tenant: 'b/"ü\n', tier: 12 },
    key: {
      llm: "gpt-4o",
      provider: "openai",
      op_name: "ask",
      "attributes.tenant": 'b/"ü\n',
      "attributes.tier": 12,
    },
  },
  {
    id: "own",
    op: "judge",
    usage: { "acme/house": tokens(7, { provider: "acme" }), "acme/other": tokens(7) },
    attributes: { tenant: null },
    key: {
      llm: "acme/house",
      provider: "acme",
      op_name: "judge",
      "attributes.tenant": null,
      "attributes.tier": null,
    },
  },
  {
    id: "none",
    op: "judge",
    usage: {},
    attributes: { tenant: { of: [1] } },
    key: {
      llm: null,
      provider: null,
      op_name: "judge",
      "attributes.tenant": '{"of":[1]}',
      "attributes.tier": null,
    },
  },
];
const NO_CALL: Key = {};

interface Rating {
  readonly ref: string;
  readonly atMs: number;
  readonly score: number | null;
  readonly key: Key;
}

/** Sixty ratings over three local days and both edges of the window. */
const RATINGS: readonly Rating[] = Array.from({ length: 60 }, (_, place) => {
  const about = [
    ...CALLS.map(({ id, key }) => ({ ref: CALL + id, key })),
    { ref: `${CALL}deleted`, key: NO_CALL },
    { ref: `${CALL}never-seen`, key: NO_CALL },
    { ref: `weave:///${project_id}/object/x:v1`, key: NO_CALL },
    { ref: `weave:///acme/else/call/small`, key: NO_CALL },
  ];
  const firstMs = Date.parse(WINDOW.start);
  const stepMs = (Date.parse(WINDOW.end) - firstMs) / 59;
  const atMs = Math.round(firstMs + place * stepMs);
  return {
    ...about[(place * 5 + (place % 3)) % about.length]!,
    atMs,
    score: place % 7 === 0 ? null : place / 8,
  };
});

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  const at = "2026-03-01T00:00:00Z";
  const callOf = (id: string, op: string, usage: Usage, attributes: object = {}) => ({
    project_id,
    id,
    trace_id: `t-${id}`,
    op_name: op,
    started_at: at,
    ended_at: at,
    attributes,
    inputs: {},
    summary: { usage },
  });
  const batch = [
    ...CALLS.map(({ id, op, usage, attributes }) => callOf(id, op, usage, attributes)),
    callOf("deleted", "ask", { "gpt-4o": tokens(3) }),
  ];
  expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).status).toBe(200);
  await test.post("/calls/delete", { project_id, call_ids: ["deleted"] });
  const feedback = RATINGS.map(({ ref, atMs, score }, place) => ({
    project_id,
    id: `r${place}`,
    weave_ref: ref,
    feedback_type: "grade",
    created_at: new Date(atMs).toISOString(),
    payload: score === null ? {} : { score },
  }));
  const created = await test.post("/feedback/batch/create", { batch: feedback });
  expect(created.json().rejected).toEqual([]);
});
afterAll(() => test.close());

const METRICS = [{ json_path: "score", aggregations: ["sum", "avg", "max", "count"], percentiles: [50] }];

async function ask(more: object, headers: object = {}) {
  const response = await test.app.inject({
    method: "POST",
    url: "/feedback/stats",
    headers: { authorization: authorization(ROOT_KEY, "basic"), ...headers },
    payload: { project_id, ...WINDOW, metrics: METRICS, ...more },
  });
  expect(response.statusCode, response.body).toBe(200);
  return response;
}

interface Numbers {
  readonly sum: number;
  readonly avg: number | null;
  readonly max: number | null;
  readonly count: number;
  readonly p50: number | null;
}

function numbersOf(ratings: readonly Rating[]): Numbers {
  const scores = ratings.flatMap(({ score }) => (score === null ? [] : [score])).toSorted((a, b) => a - b);
  const sum = scores.reduce((all, score) => all + score, 0);
  const middle = (scores.length - 1) / 2;
  const isEmpty = scores.length === 0;
  return {
    sum,
    avg: isEmpty ? null : sum / scores.length,
    max: scores.at(-1) ?? null,
    count: scores.length,
    p50: isEmpty ? null : (scores[Math.floor(middle)]! + scores[Math.ceil(middle)]!) / 2,
  };
}

const total = (ratings: readonly Rating[]) => ({
  count: ratings.length,
  window_stats: { score: numbersOf(ratings) },
});
const pointOf = (ratings: readonly Rating[]) => ({
  count: ratings.length,
  ...Object.fromEntries(Object.entries(numbersOf(ratings)).map(([name, value]) => [`${name}_score`, value])),
});
const orNull = (ratings: readonly Rating[]) => (ratings.length === 0 ? null : pointOf(ratings));

/** The response by plain JavaScript over the ratings. */
function expected(labels: readonly string[], limit: number): object {
  const inWindow = RATINGS.filter(({ atMs }) => atMs < Date.parse(WINDOW.end));
  const keyOf = ({ key }: Rating) =>
    JSON.stringify(Object.fromEntries(labels.map((label) => [label, key[label] ?? null])));
  const byKey = [...Map.groupBy(inWindow, keyOf)].toSorted(
    ([one, ones], [other, others]) => others.length - ones.length || (one < other ? -1 : 1),
  );
  const shown = byKey.slice(0, limit);
  const rest = byKey.slice(limit);
  const others = rest.flatMap(([, ratings]) => ratings);
  const dayOf = ({ atMs }: Rating) => DAYS.findLastIndex((day) => Date.parse(day) <= atMs);
  return {
    groups: shown.map(([key, ratings]) => ({ key: JSON.parse(key) as Key, ...total(ratings) })),
    other: rest.length === 0 ? null : { groups: rest.length, ...total(others) },
    buckets: DAYS.map((timestamp, day) => {
      const ofDay = (ratings: readonly Rating[]) => ratings.filter((one) => dayOf(one) === day);
      return {
        timestamp,
        ...pointOf(ofDay(inWindow)),
        groups: shown.map(([, ratings]) => orNull(ofDay(ratings))),
        other: orNull(ofDay(others)),
      };
    }),
    window_stats: { score: numbersOf(inWindow) },
  };
}

describe("feedback by the calls that it is about", () => {
  it.each([
    ["an LLM: the one with the most tokens", ["llm"], ["llm"], [100, 2]],
    ["a provider, over its LLMs", ["provider"], ["provider"], [1]],
    ["a field of text, null and JSON", [{ $getField: "attributes.tenant" }], ["attributes.tenant"], [3]],
    [
      "a number and an operation",
      [{ $getField: "attributes.tier" }, "op_name"],
      ["attributes.tier", "op_name"],
      [100],
    ],
    ["an operation and an LLM", ["op_name", "llm"], ["op_name", "llm"], [2]],
  ])("is grouped by %s", async (_name, group_by, labels, limits) => {
    for (const limit of limits)
      expect((await ask({ group_by, limit })).json()).toMatchObject(expected(labels, limit));
  });

  it("has the numbers of the whole as without groups, and no groups without group_by", async () => {
    const plain = (await ask({})).json();
    expect(plain).not.toHaveProperty("groups");
    expect(plain).not.toHaveProperty("other");
    const grouped = (await ask({ group_by: ["trace_id", "status"] })).json();
    expect(grouped).toMatchObject(plain);
    expect(grouped.groups.length).toBe(5);
    const counts = grouped.groups.map(({ count }: { count: number }) => count);
    expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(59);
  });

  it("has no groups without feedback, and none in an empty window", async () => {
    const none = { groups: [], other: null };
    expect((await ask({ group_by: ["llm"], feedback_type: "nothing" })).json()).toMatchObject(none);
    const empty = { ...none, buckets: [] };
    expect((await ask({ group_by: ["llm"], end: WINDOW.start })).json()).toMatchObject(empty);
  });

  it("is as CSV a line per group and bucket", async () => {
    const { body } = await ask({ group_by: ["llm"], limit: 1, metrics: [] }, { accept: "text/csv" });
    const [head, ...lines] = body.trimEnd().split("\r\n");
    expect(head).toBe("timestamp,group,llm,count");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^2026-03-07T05:00:00.000Z,1,,\d+$/);
    expect(lines[1]).toMatch(/^2026-03-07T05:00:00.000Z,other,,\d+$/);
  });

  it.each([
    ["an unknown name", ["model"], ["group_by", 0]],
    ["an unknown field", ["llm", { $getField: "nothing" }], ["group_by", 1]],
    ["feedback", [{ $getField: "feedback.[grade].payload.score" }], ["group_by", 0]],
    ["three keys", ["llm", "op_name", "status"], ["group_by"]],
    ["a key twice", ["llm", "llm"], ["group_by", 1]],
  ])("rejects %s with its place", async (_name, group_by, place) => {
    const response = await test.post("/feedback/stats", { project_id, ...WINDOW, group_by });
    expect(response.status).toBe(422);
    expect(response.json().detail[0].loc.slice(0, place.length + 1)).toEqual(["body", ...place]);
  });
});

it("a response that would be too large is refused with 413, and fits with fewer groups", async () => {
  const request = { project_id, ...WINDOW, granularity: 30, group_by: ["llm"] };
  expect((await test.post("/feedback/stats", { ...request, limit: 1000 })).status).toBe(413);
  expect((await test.post("/feedback/stats", { ...request, limit: 2 })).status).toBe(200);
});

it("feedback about too many calls is not grouped, with 413", async () => {
  const small = await startAppOn(test.engine, { settings: { MAX_STATS_CALLS: "2" } });
  expect((await small.post("/feedback/stats", { project_id, ...WINDOW })).status).toBe(200);
  const response = await small.post("/feedback/stats", { project_id, ...WINDOW, group_by: ["llm"] });
  expect(response.status, response.text).toBe(413);
  await small.close();
});
