import { authorization, ROOT_KEY } from "./start-app.ts";

/** Data of every kind, and queries over it, to test stores opened by another version. */

/** Sends a request to a service. Throws for statuses other than 2xx. */
export type Send = (
  path: string,
  body: object | string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

/** Asks as the root key. */
export function senderTo(url: string): Send {
  return async (path, body, headers) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: authorization(ROOT_KEY), "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
}

export interface FixtureQuery {
  readonly path: string;
  readonly body: object;
}

const HOUR = 3_600_000;
export const FIXTURE_PROJECT = "acme/kept";
const project_id = FIXTURE_PROJECT;
const iso = (ms: number): string => new Date(ms).toISOString();
const literal = ($literal: unknown) => ({ $literal });
const field = ($getField: string) => ({ $getField });

/** Traces over two months, years before and after, some of them long. */
function calls() {
  return Array.from({ length: 12 }, (_, trace) => {
    const early = trace === 10 ? Date.UTC(1969, 4, 4) : Date.UTC(2026, 0, 1 + trace * 5, trace);
    const began = trace === 11 ? Date.UTC(2150, 0, 1) : early;
    const step = trace % 5 === 0 ? 7 * HOUR : 20_000;
    return Array.from({ length: 6 + (trace % 3) }, (_call, place) =>
      callOf(trace, place, began + place * step),
    );
  }).flat();
}

function callOf(trace: number, place: number, at: number) {
  const id = `c-${trace}-${place}`;
  const used = { requests: 1, prompt_tokens: 100 + place, completion_tokens: trace };
  return {
    id,
    start: {
      project_id,
      id,
      trace_id: `t-${(trace * 7919) % 101}`,
      parent_id: place === 0 ? null : `c-${trace}-${Math.floor((place - 1) / 2)}`,
      op_name: ["agent", "weave:///acme/kept/op/chat:v1", "tool"][place % 3],
      display_name: place === 2 ? "given by its start" : null,
      started_at: iso(at).replace("Z", "123Z"),
      thread_id: `thread-${trace % 4}`,
      turn_id: place === 0 ? `turn-${trace}` : null,
      wb_user_id: `user-${trace % 3}`,
      wb_run_id: trace % 4 === 0 ? "run" : null,
      wb_run_step: trace % 4 === 0 ? trace : null,
      inputs: {
        n: trace * 10 + place,
        text: "é".repeat(place * 50),
        ref: place === 2 ? "weave:///acme/kept/object/o:1" : null,
      },
      attributes: {
        env: trace % 2 ? "prod" : "dev",
        // this producer adds the usage of children to their parents
        ...(trace % 3 === 0 && { weave: { client_version: "0.52.0", source: "python-sdk" } }),
      },
    },
    end: {
      project_id,
      id,
      ended_at: iso(at + (trace % 6 === 1 ? 30 * HOUR : 1500)),
      output: { answer: place, list: [1, null, { a: "b" }], big: 2 ** 60 },
      exception: place === 4 ? "boom" : null,
      summary: place % 2 ? { usage: { "gpt-4o": used }, kept: true } : {},
    },
  };
}

const all = calls();

/** Every form of message: starts and ends apart, ends first, whole calls, renames, deletes; open calls, and an end without a start. */
async function sendCalls(ask: Send): Promise<void> {
  const upsert = (batch: object[]) => ask("/call/upsert_batch", { batch });
  const starts = (of: typeof all) => upsert(of.map(({ start }) => ({ mode: "start", req: { start } })));
  const ends = (of: typeof all) => upsert(of.map(({ end }) => ({ mode: "end", req: { end } })));
  const later = all.filter((_, at) => at % 8 === 3);
  await starts(all.filter((_, at) => at % 4 !== 3));
  await ends(all.filter((_, at) => at % 4 < 2));
  await ends(later);
  await starts(later);
  const late = { project_id, id: "later", ended_at: iso(Date.UTC(2026, 0, 2)), output: "waits", summary: {} };
  await ask("/call/end", { end: late });
  const whole = all.filter((_, at) => at % 8 === 7).map(({ start, end }) => ({ ...start, ...end }));
  await ask("/v2/acme/kept/calls/complete", { batch: whole });
  await ask("/call/update", { project_id, call_id: "c-3-1", display_name: "renamed" });
  await ask("/calls/delete", { project_id, call_ids: ["c-5-1", "c-9-0"] });
}

async function sendTheRest(ask: Send): Promise<void> {
  const batch = all.slice(0, 40).map(({ id }, place) => ({
    project_id,
    id: `f-${place}`,
    weave_ref: `weave:///acme/kept/call/${id}`,
    feedback_type: place % 5 === 0 ? "wandb.reaction.1" : "score",
    creator: "somebody",
    wb_user_id: "user-1",
    created_at: iso(Date.UTC(2026, 1, 1 + (place % 20), place)),
    payload: place % 5 === 0 ? { emoji: "👍" } : { output: { value: place / 8, good: place % 2 === 0 } },
    ...(place % 7 === 0 && { scorer_tags: ["a"], scorer_trace_id: "t" }),
  }));
  await ask("/feedback/batch/create", { batch });
  const query = { $expr: { $eq: [field("id"), literal("f-1")] } };
  await ask("/feedback/purge", { project_id, query });
  const price = { prompt_token_cost: 0.001, completion_token_cost: 0.002 };
  for (const [effective_date, more] of [
    // no call has a price of the public list, which changes
    ["1900-01-01T00:00:00Z", {}],
    ["2026-02-01T00:00:00Z", { cache_read_input_token_cost: 0.0001, unit_costs: { web_searches: 0.01 } }],
  ] as const) {
    const costs = { "gpt-4o": { ...price, ...more, effective_date } };
    await ask("/cost/create", { project_id, costs });
  }
}

/** A dataset whose rows are a table, and an op with a file, of which there are two versions. */
async function sendObjects(ask: Send): Promise<void> {
  const digestOf = async (response: Promise<Response>): Promise<string> =>
    ((await (await response).json()) as { digest: string }).digest;
  const rows = Array.from({ length: 250 }, (_, n) => ({ n, text: `row ${n}` }));
  const table = await digestOf(ask("/table/create", { table: { project_id, rows } }));
  const dataset = { _type: "Dataset", rows: `weave:///acme/kept/table/${table}` };
  await ask("/obj/create", { obj: { project_id, object_id: "dataset", val: dataset } });
  for (const code of ["one", "two"]) {
    const form = [
      `--b\r\ncontent-disposition: form-data; name="project_id"\r\n\r\n${project_id}`,
      `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\ndef ${code}(): pass`,
      "--b--\r\n",
    ].join("\r\n");
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const file = await digestOf(ask("/file/create", form, headers));
    const val = { _type: "CustomWeaveType", weave_type: { type: "Op" }, files: { "obj.py": file } };
    await ask("/obj/create", { obj: { project_id, object_id: "chat", val } });
  }
}

export async function seedFixture(ask: Send): Promise<void> {
  await sendCalls(ask);
  await sendTheRest(ask);
  await sendObjects(ask);
}

const during = (name: string, from: number, to: number) => [
  { $gte: [field(name), literal(iso(from))] },
  { $lt: [field(name), literal(iso(to))] },
];
const january = during("started_at", Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1));
const window = { start: "2026-01-01T00:00:00Z", end: "2026-06-01T00:00:00Z", timezone: "Europe/Berlin" };

/** Queries over the project `KEPT`, whose responses are the same in every version. */
export const FIXTURE_QUERIES: readonly FixtureQuery[] = [
  ...[
    {},
    { filter: { trace_roots_only: true } },
    { include_costs: true },
    { limit: 5 },
    { filter: { trace_ids: [all[0]!.start.trace_id, all[40]!.start.trace_id] } },
    { filter: { call_ids: ["c-0-1", "c-9-1", "c-8-0"] } },
    { filter: { thread_ids: ["thread-1"] }, query: { $expr: { $and: january } } },
    { query: { $expr: { $and: january } } },
    { query: { $expr: { $and: during("ended_at", Date.UTC(2026, 0, 7), Date.UTC(2026, 0, 9)) } } },
    { query: { $expr: { $lt: [field("started_at"), literal("1970-01-01T00:00:00Z")] } } },
    { query: { $expr: { $and: [{ $gt: [field("inputs.n"), literal(50)] }, ...january] } } },
    { query: { $expr: { $eq: [field("feedback.[score].payload.output.value"), literal(0.5)] } } },
    { query: { $expr: { $contains: { input: field("op_name"), substr: literal("chat") } } } },
  ].map((body) => ({ path: "/trace/usage", body })),
  { path: "/calls/usage", body: { call_ids: ["c-1-0"], include_costs: true } },
  { path: "/traces/query", body: { start: "2026-01-01T00:00:00Z", order_by: "total_cost" } },
  ...[
    {},
    { sort_by: [{ field: "started_at", direction: "desc" }], limit: 20, offset: 3 },
    { sort_by: [{ field: "inputs.n", direction: "desc" }], limit: 7 },
    { filter: { op_names: ["weave:///acme/kept/op/chat:*"], wb_user_ids: ["user-1"] } },
    { filter: { input_refs: ["weave:///acme/kept/object/o:1"] } },
    { query: { $expr: { $eq: [field("summary.weave.status"), literal("error")] } }, include_costs: true },
    { query: { $expr: { $and: january } }, columns: ["id", "inputs.n"] },
  ].map((body) => ({ path: "/calls/stream_query", body })),
  { path: "/calls/query_stats", body: { query: { $expr: { $and: january } } } },
  ...["c-3-1", "c-9-0", "later"].map((id) => ({ path: "/call/read", body: { id } })),
  ...[[], ["llm", "provider"], ["op_name", "status"], ["trace_id", "svc_user_id"], ["thread_id"]].map(
    (group_by) => ({
      path: "/usage/stats",
      body: { ...window, granularity: 2_592_000, group_by, include_costs: true },
    }),
  ),
  {
    path: "/feedback/stats",
    body: {
      ...window,
      granularity: 86_400,
      metrics: [
        { json_path: "output.value", value_type: "numeric", aggregations: ["avg", "sum", "count"] },
        { json_path: "output.good", value_type: "boolean", aggregations: ["count_true"] },
      ],
    },
  },
  { path: "/feedback/query", body: {} },
  { path: "/objs/query", body: {} },
].map(({ path, body }) => ({ path, body: { project_id, ...body } }));

/** Members that say when and under which number something was stored. */
const MADE_ANEW: ReadonlySet<string> = new Set(["created_at", "created_by"]);

/** An answer, of NDJSON as a list, without what is made anew when it is stored; `feedback` has a time of its own. */
export function comparable(path: string, text: string): unknown {
  const drop = (key: string, value: unknown): unknown =>
    (path.startsWith("/objs") || path.startsWith("/cost")) && (MADE_ANEW.has(key) || key === "id")
      ? undefined
      : value;
  if (path !== "/calls/stream_query") return JSON.parse(text, drop);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}
