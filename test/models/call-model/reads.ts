import {
  callAnswer,
  COUNTS,
  hasRef,
  ownUsage,
  totalAnswer,
  unfinishedAnswer,
  usageAnswer,
  type Usage,
} from "./answers.ts";
import { fieldQueries, timeQuery, type FieldQuery } from "./fields.ts";
import type { Lane } from "./lane.ts";
import { INPUT_REFS, OUTPUT_REFS } from "./messages.ts";
import { liveCalls } from "./state.ts";
import type { World } from "./take-step.ts";

interface Call {
  readonly id: string;
  readonly project_id: string;
  readonly attributes: { readonly otel?: object };
}

export interface Reading {
  readonly lanes: readonly Lane[];
  readonly world: World;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

const TIMES = [
  ["2025-11-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ["2025-12-31T23:00:00Z", "2026-01-01T00:00:01Z"],
  ["2026-01-01T00:00:01Z", "2026-01-02T00:00:00Z"],
] as const;

/** Reads all calls as they are, and holds every lane to them. */
export async function checkStream(reading: Reading): Promise<void> {
  const { lanes, world } = reading;
  const calls = await stream({}, reading);
  const known = new Set(lanes.flatMap((lane) => [...lane.ids.keys()]));
  const strange = calls.filter((call) => !known.has(call.id) || call.project_id !== world.project);
  if (strange.length > 0) throw new Error(`not ours: ${JSON.stringify(strange)}`);
  for (const lane of lanes) {
    const observed = calls.filter((call) => lane.ids.has(call.id));
    lane.narrow("/calls/stream_query", byId(observed), (state) =>
      byId(liveCalls(state).map((name) => callAnswer(state, name, lane.names))),
    );
  }
}

/** Asks every other way that reads, and holds every lane to what it says. */
export async function checkReads(reading: Reading): Promise<void> {
  const { lanes, random } = reading;
  checkUsage("/trace/usage", await ask("/trace/usage", { limit: 1_000_000 }, reading), { lanes });

  const ids = lanes.flatMap((lane) => [...lane.ids.keys()]).filter(() => random() < 0.5);
  const usage = await ask("/calls/usage", { call_ids: ids, limit: 1_000_000 }, reading);
  checkUsage("/calls/usage", usage, { lanes, only: new Set(ids) });

  for (const id of ids.filter(() => random() < 3 / ids.length)) {
    await checkCall(id, reading);
    await checkReceipt(id, reading);
  }
  for (const lane of lanes.filter(() => random() < 3 / lanes.length)) await checkTotals(lane, reading);
  for (const query of fieldQueries(reading.world.project).filter(() => random() < 0.07)) {
    const $expr = { $eq: [{ $getField: query.field }, { $literal: query.value }] };
    await checkSelection({ query: { $expr } }, query.holds, reading);
  }
  for (const [from, before] of TIMES.filter(() => random() < 0.3)) {
    const { $expr, holds } = timeQuery(from, before);
    await checkSelection({ query: { $expr } }, holds, reading);
  }
  for (const ref of [...INPUT_REFS, ...OUTPUT_REFS].filter(() => random() < 0.3)) {
    const member = (INPUT_REFS as readonly string[]).includes(ref) ? "input_refs" : "output_refs";
    await checkSelection({ filter: { [member]: [ref] } }, (state, name) => hasRef(state, name, ref), reading);
  }
}

async function checkCall(id: string, reading: Reading): Promise<void> {
  const { call } = (await ask("/call/read", { id }, reading)) as { call: Call | null };
  const lane = reading.lanes.find((one) => one.ids.has(id))!;
  const name = lane.ids.get(id)!;
  lane.narrow(`/call/read ${name}`, call && comparable(call), (state) =>
    liveCalls(state).includes(name) ? callAnswer(state, name, lane.names) : null,
  );
}

interface Receipt {
  readonly usage: readonly { readonly llm: string; readonly reported: Readonly<Record<string, unknown>> }[];
}

async function checkReceipt(id: string, reading: Reading): Promise<void> {
  const lane = reading.lanes.find((one) => one.ids.has(id))!;
  const name = lane.ids.get(id)!;
  if (!liveCalls(lane.someState).includes(name)) return;
  const { usage } = (await ask("/call/receipt", { call_id: id }, reading)) as Receipt;
  const observed = usage.map(({ llm, reported: { units: _units, ...counts } }) => [llm, counts]);
  lane.narrow(`/call/receipt ${name}`, Object.fromEntries(observed), (state) =>
    Object.fromEntries(
      Object.entries(ownUsage(state, name)).map(([llm, counts]) => [llm, { ...counts, stated_cost: null }]),
    ),
  );
}

const STATS_WINDOW = { start: "2025-11-01T00:00:00Z", end: "2026-01-02T00:00:00Z", granularity: 86_400 };

interface Groups {
  readonly groups: readonly {
    readonly key: { readonly trace_id: string };
    readonly total: Readonly<Record<string, number>>;
  }[];
}

/** Totals of all traces of a project in one query, from the rollup as far as it is materialized. */
export async function checkGroups(reading: Reading): Promise<void> {
  const question = { ...STATS_WINDOW, group_by: ["trace_id"], limit: 1000 };
  const { groups } = (await ask("/usage/stats", question, reading)) as Groups;
  for (const lane of reading.lanes) {
    const traces = new Set([...lane.ids.values()].map(lane.names.trace));
    const mine = groups.filter(({ key }) => traces.has(key.trace_id)).map(({ total }) => total);
    lane.narrow("/usage/stats by trace", sumOf(mine), (state) => totalAnswer(state, lane.names));
  }
}

function sumOf(totals: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {
    calls: 0,
    errors: 0,
    ...Object.fromEntries(COUNTS.map((name) => [name, 0])),
  };
  for (const total of totals) for (const name of Object.keys(sum)) sum[name]! += total[name]!;
  return sum;
}

/** Checks the total usage of the traces of a lane, and their number of calls. */
async function checkTotals(lane: Lane, reading: Reading): Promise<void> {
  const trace_ids = [...new Set([...lane.ids.values()].map(lane.names.trace))];
  const { total } = (await ask("/usage/stats", { ...STATS_WINDOW, filter: { trace_ids } }, reading)) as {
    total: unknown;
  };
  lane.narrow("/usage/stats", total, (state) => totalAnswer(state, lane.names));
  const counted = (await ask("/calls/query_stats", { filter: { trace_ids } }, reading)) as { count: number };
  lane.narrow("/calls/query_stats", counted.count, (state) => liveCalls(state).length);
}

interface UsageAnswer {
  readonly call_usage: Readonly<Record<string, Usage>>;
  readonly unfinished_call_ids: readonly string[];
}

function checkUsage(
  what: string,
  response: unknown,
  { lanes, only }: { lanes: readonly Lane[]; only?: ReadonlySet<string> },
): void {
  const { call_usage, unfinished_call_ids } = response as UsageAnswer;
  for (const lane of lanes) {
    const mine = <Value>(entries: readonly (readonly [string, Value])[]) =>
      Object.fromEntries(entries.filter(([id]) => lane.ids.has(id) && (only?.has(id) ?? true)));
    const observed = mine(Object.entries(call_usage).map(([id, usage]) => [id, withoutCosts(usage)]));
    lane.narrow(what, observed, (state) => mine(Object.entries(usageAnswer(state, lane.names))));
    if (only !== undefined) continue;
    const unfinished = unfinished_call_ids.filter((id) => lane.ids.has(id));
    lane.narrow(`${what} unfinished_call_ids`, unfinished, (state) => unfinishedAnswer(state, lane.names));
  }
}

function withoutCosts(usage: Usage): unknown {
  return JSON.parse(
    JSON.stringify(usage, (key, value: unknown) => (key.endsWith("_cost") ? undefined : value)),
  );
}

async function checkSelection(question: object, holds: FieldQuery["holds"], reading: Reading): Promise<void> {
  const ids = (await stream({ ...question, columns: ["id"] }, reading)).map((call) => call.id);
  for (const lane of reading.lanes) {
    const mine = ids.filter((id) => lane.ids.has(id)).sort();
    lane.narrow(JSON.stringify(question), mine, (state) =>
      liveCalls(state)
        .filter((name) => holds(state, name, lane.names))
        .map(lane.names.id)
        .sort(),
    );
  }
}

async function stream(question: object, reading: Reading): Promise<Call[]> {
  const text = await askText("/calls/stream_query", question, reading);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call);
}

async function ask(url: string, question: object, reading: Reading): Promise<unknown> {
  return JSON.parse(await askText(url, question, reading));
}

async function askText(url: string, question: object, { world, random }: Reading): Promise<string> {
  const replica = world.replicas[random() < 0.5 ? 0 : 1];
  const body = { project_id: world.project, ...question };
  const { status, bytes } = await replica({ method: "POST", url, body });
  const text = bytes.toString();
  if (status !== 200) throw new Error(`${url} ${JSON.stringify(question)}: ${status} ${text}`);
  return text;
}

function byId(calls: readonly (Call | Record<string, unknown>)[]): object {
  const sorted = calls.map((call) => comparable(call as Call)).sort((a, b) => (a.id < b.id ? -1 : 1));
  return sorted;
}

/** The call without its project, and without the attributes of a span, which are many. */
function comparable({ project_id: _project, ...call }: Call): { readonly id: string } {
  if (call.attributes?.otel === undefined) return call;
  const { attributes: _attributes, ...rest } = call;
  return rest;
}
