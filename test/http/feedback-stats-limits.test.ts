import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => Date.parse("2026-06-01T12:00:00Z") } } });
  const batch = [0.5, "0.9", true, null, [1], { a: 1 }].map((score, index) => ({
    project_id: "acme/limits",
    weave_ref: "weave:///acme/limits/call/1",
    feedback_type: "custom",
    created_at: `2026-06-01T10:0${index}:00Z`,
    payload: { score },
  }));
  const created = await test.post("/feedback/batch/create", { batch });
  expect(created.json().rejected).toEqual([]);
});
afterAll(() => test.close());

const window = { start: "2026-06-01T00:00:00Z", end: "2026-06-02T00:00:00Z" };
const metric = { json_path: "score" };

function ask(more: object) {
  return test.post("/feedback/stats", { project_id: "acme/limits", ...window, ...more });
}

async function issues(more: object): Promise<unknown[]> {
  const response = await ask(more);
  expect(response.status, response.text).toBe(422);
  return response.json().detail.map((issue: { loc: unknown[]; type: string }) => [issue.loc, issue.type]);
}

describe("POST /feedback/stats rejects with 422", () => {
  it.each([
    ["an end before the start", { end: "2026-05-31T23:59:59.999Z" }, [["body", "end"], "value_error"]],
    [
      "a start in the future without an end",
      { start: "2026-06-01T12:00:01Z", end: null },
      [["body", "start"], "value_error"],
    ],
    ["a zone that is not known", { timezone: "Mars/Olympus" }, [["body", "timezone"], "value_error"]],
    ["an offset in place of a zone", { timezone: "+05:30" }, [["body", "timezone"], "value_error"]],
    ["an ambiguous abbreviation", { timezone: "IST" }, [["body", "timezone"], "value_error"]],
    ["a granularity of 0", { granularity: 0 }, [["body", "granularity"], "greater_than_equal"]],
    [
      "a granularity that is no whole number",
      { granularity: 1.5 },
      [["body", "granularity"], "int_from_float"],
    ],
    ["a granularity beyond a century", { granularity: 1e12 }, [["body", "granularity"], "less_than_equal"]],
    ["a year of five digits", { end: "+010000-01-01T00:00:00Z" }, [["body", "end"], "datetime_parsing"]],
    [
      "a first bucket that begins before the year 0000, by its zone",
      { start: "0000-01-01T00:00:00Z", timezone: "Asia/Tokyo" },
      [["body", "start"], "value_error"],
    ],
    [
      "a first bucket that begins before the year 0000, by its size",
      { start: "0001-01-01T00:00:00Z", granularity: 1000 * 86_400 },
      [["body", "start"], "value_error"],
    ],
    ["a day that does not exist", { start: "2026-02-30T00:00:00Z" }, [["body", "start"], "datetime_parsing"]],
    [
      "1,000 metrics",
      { metrics: Array.from({ length: 1000 }, () => metric) },
      [["body", "metrics"], "too_long"],
    ],
    [
      "51 percentiles",
      { metrics: [{ ...metric, percentiles: Array(51).fill(50) }] },
      [["body", "metrics", 0, "percentiles"], "too_long"],
    ],
    [
      "a percentile beyond 100",
      { metrics: [{ ...metric, percentiles: [50, 100.1] }] },
      [["body", "metrics", 0, "percentiles", 1], "less_than_equal"],
    ],
    [
      "a path of 10,000 characters",
      { metrics: [{ json_path: "x".repeat(10_000) }] },
      [["body", "metrics", 0, "json_path"], "too_long"],
    ],
    [
      "a path of 33 segments",
      { metrics: [{ json_path: Array(33).fill("a").join(".") }] },
      [["body", "metrics", 0, "json_path"], "value_error"],
    ],
    [
      "an empty segment",
      { metrics: [{ json_path: "a..b" }] },
      [["body", "metrics", 0, "json_path"], "value_error"],
    ],
    [
      "an aggregation that is not known",
      { metrics: [{ ...metric, aggregations: ["avg", "median"] }] },
      [["body", "metrics", 0, "aggregations", 1], "literal_error"],
    ],
  ])("%s", async (_name, more, issue) => {
    expect(await issues(more)).toEqual([issue]);
  });

  it("every issue at once", async () => {
    const found = await issues({ granularity: -1, timezone: "nowhere", metrics: [{}, { json_path: " " }] });
    expect(found.map((issue) => (issue as [unknown[]])[0])).toEqual([
      ["body", "granularity"],
      ["body", "timezone"],
      ["body", "metrics", 0, "json_path"],
      ["body", "metrics", 1, "json_path"],
    ]);
  });

  it("a response that would be too large, with a remedy", async () => {
    const metrics = Array.from({ length: 100 }, (_, index) => ({
      json_path: `p${index}`,
      percentiles: [1, 2, 3, 4, 5],
    }));
    const response = await ask({ start: "2016-06-01T00:00:00Z", granularity: 86_400, metrics });
    expect([response.status, response.json().detail[0].loc]).toEqual([422, ["body", "metrics"]]);
    expect(response.json().detail[0].msg).toMatch(/larger granularity/);
  });
});

describe("POST /feedback/stats accepts", () => {
  it("1 s over ten years with buckets of a round size that stay within 10,000", async () => {
    const response = await ask({ start: "2016-06-01T00:00:00Z", granularity: 1, metrics: [metric] });
    const { granularity, buckets } = response.json();
    expect([response.status, granularity, buckets.length]).toEqual([200, 12 * 3600, 7306]);
  });

  it("a window from the year 1 to the year 9999", async () => {
    const response = await ask({
      start: "0001-01-01T00:00:00",
      end: "9999-12-31T23:59:59.999999",
      metrics: [metric],
    });
    const { start, end, granularity, buckets, window_stats } = response.json();
    expect([start, end]).toEqual(["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]);
    expect([granularity, buckets.length]).toEqual([366 * 86_400, 9979]);
    expect(window_stats.score.avg).toBe(0.5);
  });

  it("the first instant of a four-digit year", async () => {
    const { buckets } = (
      await ask({ start: "0000-01-01T00:00:00Z", end: "0000-01-01T02:00:00Z", granularity: 3600 })
    ).json();
    expect(buckets).toEqual([
      { timestamp: "0000-01-01T00:00:00.000Z", count: 0 },
      { timestamp: "0000-01-01T01:00:00.000Z", count: 0 },
    ]);
  });

  it("an empty window, with no buckets", async () => {
    const response = await ask({ end: window.start, metrics: [{ ...metric, aggregations: ["sum", "avg"] }] });
    expect(response.json()).toMatchObject({ buckets: [], window_stats: { score: { sum: 0, avg: null } } });
  });

  it("paths that look like SQL or prototypes, or are not printable", async () => {
    const odd = [
      "a'b\\\"`c",
      "__proto__",
      "constructor",
      "{p0:String}",
      "x') OR 1=1 --",
      "tab\there",
      "\u0000nul",
      "🎉",
    ];
    const batch = odd.map((key, index) => ({
      project_id: "acme/odd",
      weave_ref: "weave:///acme/odd/call/1",
      feedback_type: "custom",
      created_at: window.start,
      payload: { outer: Object.fromEntries([[key, index + 1]]) },
    }));
    const body = JSON.stringify({ batch });
    expect((await test.post("/feedback/batch/create", body)).json().rejected).toEqual([]);
    const metrics = odd.map((key) => ({ json_path: `outer.${key}`, aggregations: ["sum", "count"] }));
    const response = await ask({ project_id: "acme/odd", metrics });
    const stats = Object.values<{ sum: number; count: number }>(response.json().window_stats);
    expect(stats).toEqual(odd.map((_key, index) => ({ sum: index + 1, count: 1 })));
  });
});

describe("POST /feedback/stats", () => {
  it("accepts only Basic authentication, and a body without a media type", async () => {
    const body = { project_id: "acme/limits", ...window };
    const bearer = await test.post("/feedback/stats", body, { scheme: "bearer" });
    expect([bearer.status, bearer.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringMatching(/^Basic [^,]*, charset/),
    ]);
    const bare = await test.app.inject({
      method: "POST",
      url: "/feedback/stats",
      headers: { authorization: authorization() },
      payload: JSON.stringify(body),
    });
    expect([bare.statusCode, bare.json().buckets.length]).toEqual([200, 4]);
  });

  it("freezes an omitted end at now", async () => {
    expect((await ask({ end: null })).json().end).toBe("2026-06-01T12:00:00.000Z");
  });

  it("returns the time zone as requested", async () => {
    expect((await ask({ timezone: "asia/calcutta" })).json().timezone).toBe("asia/calcutta");
  });
});
