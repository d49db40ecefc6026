import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { indexCallKeys, type CallRow } from "../../src/calls/storage-key/key-lookup.ts";
import { createTraceHourIndex } from "../../src/calls/storage-key/trace-hours.ts";
import type { Engine } from "../../src/store/engine.ts";
import { sql, trusted, type Sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const HOURS = 60;
const CALLS_PER_HOUR = 2000;
const CALLS_PER_TRACE = 20;
const BEGIN_MS = Date.UTC(2026, 0, 30);
const HOUR_MS = 3_600_000;
const project_id = "acme/long" as Project;
const ROWS = 1.5 * HOURS * CALLS_PER_HOUR;
/** Limit of rows read in `calls`: an hour twice, rounded up to granules, and look-ups. */
const MAX_ROWS = ROWS / 8;

/** The engine ends a statement that reads more rows than this. */
let maxRows = Number.POSITIVE_INFINITY;

function bounded(engine: Engine): Engine {
  const withBound = (query: Sql): Sql => {
    if (!Number.isFinite(maxRows)) return query;
    const text = query.chunks.map((chunk) => (typeof chunk === "string" ? chunk : "?")).join("");
    // of the whole statement, not of a subquery
    const hasSettings = /SETTINGS [^)]*$/.test(text);
    return sql`${query}${hasSettings ? sql`,` : sql` SETTINGS`} max_rows_to_read = ${trusted(String(maxRows))}`;
  };
  return {
    ...engine,
    rows: (query, options) => engine.rows(withBound(query), options),
    bytes: (query, format, options) => engine.bytes(withBound(query), format, options),
  };
}

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ wrapEngine: bounded });
  await test.engine.command(sql`SYSTEM STOP MERGES`, { name: "test" });
  for (let from = 0; from < HOURS; from += 20) await storeHours(from, from + 20);
}, 120_000);
afterAll(() => test.close());

/** Traces in an order that has nothing to do with time, half of their calls started and ended by rows of their own. */
async function storeHours(from: number, to: number): Promise<void> {
  const rows: CallRow[] = [];
  for (let call = from * CALLS_PER_HOUR; call < to * CALLS_PER_HOUR; call++) {
    const place = call % CALLS_PER_TRACE;
    const startedMs = BEGIN_MS + Math.floor(call * (HOUR_MS / CALLS_PER_HOUR));
    const hour = Math.floor(startedMs / HOUR_MS);
    const trace = call - place;
    const key = { project_id, hour, trace_id: `t-${(trace * 7919) % 1_000_003}`, id: `c-${call}` };
    const [started_at, ended_at] = [startedMs, startedMs + 500].map((ms) =>
      new Date(ms).toISOString().slice(0, 23).replace("T", " "),
    );
    const start = {
      started_at,
      parent_id: place === 0 ? "" : `c-${trace}`,
      op_name: "op",
      thread_id: `thread-${trace % 400}`,
      svc_user_id: `user-${call % 50}`,
      inputs: `{"n":${call % 100}}`,
    };
    const end = { ended_at, usage: '[["m",1,1,1,2,0,0,0]]', summary: "{}", output: "null" };
    if (call % 2 === 0) rows.push({ ...key, ...start, ...end });
    else rows.push({ ...key, ...start }, { ...key, ...end });
  }
  await createTraceHourIndex(test.engine)(rows);
  await indexCallKeys(test.engine, rows);
  await test.engine.insert("calls", rows, { name: "test_calls" });
}

const field = ($getField: string): object => ({ $getField });
const literal = ($literal: unknown): object => ({ $literal });
const instant = (hour: number): object => literal(new Date(BEGIN_MS + hour * HOUR_MS).toISOString());

function during(name: string, hour: number): readonly object[] {
  return [{ $gte: [field(name), instant(hour)] }, { $lt: [field(name), instant(hour + 1)] }];
}

async function ask(path: string, body: object): Promise<string> {
  const response = await test.post(path, { project_id, ...body });
  expect(response.status, response.text).toBe(200);
  return response.text;
}

const entries = (text: string): number =>
  Object.keys((JSON.parse(text) as { call_usage: object }).call_usage).length;
const lines = (text: string): number => text.split("\n").length - 1;
const newest = [{ field: "started_at", direction: "desc" }];
const roots = { trace_roots_only: true };
const is7 = { $eq: [field("inputs.n"), literal(7)] };

const questions: readonly [string, string, object, (text: string) => number, number][] = [
  [
    "the roots of an hour",
    "/trace/usage",
    { filter: roots, query: { $expr: { $and: during("started_at", 30) } } },
    entries,
    100,
  ],
  [
    "a payload condition within an hour, under $and in $and",
    "/trace/usage",
    { query: { $expr: { $and: [is7, { $and: during("started_at", 31) }] } } },
    entries,
    20,
  ],
  [
    "calls that ended within an hour",
    "/trace/usage",
    { query: { $expr: { $and: during("ended_at", 59) } } },
    entries,
    2000,
  ],
  [
    "an op within an hour",
    "/calls/stream_query",
    { filter: { op_names: ["op"] }, query: { $expr: { $and: during("started_at", 5) } }, columns: ["id"] },
    lines,
    2000,
  ],
  [
    "a thread and a user within an hour, under $and in $and",
    "/calls/stream_query",
    {
      filter: { thread_ids: ["thread-0"], svc_user_ids: ["user-5"] },
      query: { $expr: { $and: [{ $and: [{ $and: during("started_at", 7) }] }] } },
      columns: ["id"],
    },
    lines,
    5,
  ],
  [
    "roots of an hour, by a thread in the query",
    "/trace/usage",
    {
      filter: roots,
      query: {
        $expr: { $and: [{ $eq: [field("thread_id"), literal("thread-40")] }, ...during("started_at", 8)] },
      },
    },
    entries,
    5,
  ],
  ["the newest calls", "/calls/stream_query", { filter: roots, sort_by: newest, limit: 50 }, lines, 50],
  ["the oldest calls", "/calls/stream_query", { limit: 50 }, lines, 50],
  ["a trace by its id", "/trace/usage", { filter: { trace_ids: ["t-0"] } }, entries, 20],
  [
    "a trace named in the query",
    "/trace/usage",
    { query: { $expr: { $eq: [field("trace_id"), literal("t-0")] } } },
    entries,
    20,
  ],
  [
    "traces named under $or",
    "/trace/usage",
    {
      query: { $expr: { $or: ["t-0", "t-158380"].map((id) => ({ $eq: [field("trace_id"), literal(id)] })) } },
    },
    entries,
    40,
  ],
  [
    "roots of an hour whose end is limited by $not",
    "/trace/usage",
    {
      filter: roots,
      query: {
        $expr: {
          $and: [
            { $gte: [field("started_at"), instant(12)] },
            { $not: [{ $gte: [field("started_at"), instant(13)] }] },
          ],
        },
      },
    },
    entries,
    100,
  ],
  [
    "calls that ended neither before nor after an hour",
    "/calls/stream_query",
    {
      query: {
        $expr: {
          $not: [
            {
              $or: [{ $lt: [field("ended_at"), instant(20)] }, { $gte: [field("ended_at"), instant(21)] }],
            },
          ],
        },
      },
      columns: ["id"],
    },
    lines,
    2000,
  ],
  ["calls by their ids", "/calls/usage", { call_ids: ["c-77777", "c-5"] }, entries, 2],
  ["a call", "/calls/stream_query", { filter: { call_ids: ["c-88888"] } }, lines, 1],
];

describe(`of ${ROWS} rows of calls, not merged`, () => {
  it.each(questions)("%s reads at most an eighth", async (...[, path, body, count, expected]) => {
    maxRows = MAX_ROWS;
    try {
      expect(count(await ask(path, body))).toBe(expected);
    } finally {
      maxRows = Number.POSITIVE_INFINITY;
    }
  });

  it("a query without a time range reads more, so the limit is effective", async () => {
    maxRows = MAX_ROWS;
    try {
      const response = await test.post("/trace/usage", { project_id, query: { $expr: is7 } });
      expect(response.status).toBe(504);
    } finally {
      maxRows = Number.POSITIVE_INFINITY;
    }
  });

  it("pages after the newest read no more either", async () => {
    maxRows = MAX_ROWS;
    try {
      let page_token: string | undefined;
      const ids = new Set<string>();
      for (let page = 0; page < 4; page++) {
        const response = await test.post("/calls/stream_query", {
          project_id,
          sort_by: newest,
          limit: 900,
          page_token,
          columns: ["id"],
        });
        expect(response.status).toBe(200);
        for (const line of response.text.split("\n").slice(0, -1))
          ids.add((JSON.parse(line) as { id: string }).id);
        page_token = response.headers["x-next-page-token"] as string;
      }
      expect(ids.size).toBe(3600);
    } finally {
      maxRows = Number.POSITIVE_INFINITY;
    }
  });
});
