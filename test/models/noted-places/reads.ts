import { expect } from "vitest";
import type { TestApp } from "../../helpers/start-app.ts";
import { ALL_IDS, ALL_TRACES, EDGES, isNoSpan, WINDOW, type LiveCall, type Model } from "./model.ts";

export interface Reading {
  readonly app: TestApp;
  readonly project_id: string;
  readonly model: Model;
  readonly told: string;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const field = ($getField: string): object => ({ $getField });
const literal = ($literal: unknown): object => ({ $literal });

/** Asks in every way that finds calls by what is noted of them. */
export async function checkReads(reading: Reading): Promise<void> {
  const { model, random } = reading;
  const ids = ALL_IDS.filter(() => random() < 0.4);
  const traces = [...new Set(model.live().map((call) => call.trace))];
  const some = traces.length > 0 && random() < 0.9 ? traces : ALL_TRACES;
  const trace = some[Math.floor(random() * some.length)]!;
  const [from, to] = [0, 1].map(() => EDGES[Math.floor(random() * EDGES.length)]!);
  const member = random() < 0.7 ? "started" : "ended";
  const during = [
    { $gte: [field(`${member}_at`), literal(iso(from!))] },
    { $lt: [field(`${member}_at`), literal(iso(to!))] },
  ];
  const isDuring = (call: LiveCall): boolean => {
    const at = member === "started" ? call.startedMs : call.endedMs;
    return at !== undefined && at >= from! && at < to!;
  };
  const isRoot = { $eq: [field("parent_id"), literal(null)] };
  const isCall = { $eq: [field("attributes.of"), literal("x")] };
  const isRenamed = { $eq: [field("display_name"), literal("renamed")] };
  const questions: readonly [object, (call: LiveCall) => boolean][] = [
    [{}, () => true],
    [{ filter: { call_ids: ids } }, (call) => ids.length === 0 || ids.includes(call.id)],
    [{ query: { $expr: { $and: during } } }, isDuring],
    [{ query: { $expr: { $and: [...during, isRoot] } } }, (call) => isDuring(call) && call.parent === null],
    [
      { query: { $expr: { $and: [isRenamed, isCall] } } },
      (call) => call.name === "renamed" && isNoSpan(call),
    ],
  ];
  await checkSelection({ filter: { trace_ids: [trace, "none"] } }, (call) => call.trace === trace, reading);
  for (const [asked, holds] of questions) if (random() < 0.4) await checkSelection(asked, holds, reading);
  const asked = random() < 0.5 ? {} : { filter: { trace_ids: [trace] } };
  await checkTotals(
    model.live().filter((call) => !("filter" in asked) || call.trace === trace),
    asked,
    reading,
  );
  const feedback = await ask("/feedback/query", { fields: ["id"] }, reading);
  expect((feedback["result"] as unknown[]).length, reading.told).toBe(model.feedback);
}

async function ask(
  url: string,
  asked: object,
  { app, project_id, told }: Reading,
): Promise<Record<string, unknown>> {
  const answer = await app.post(url, { project_id, ...asked });
  expect(answer.status, `${told}\n${url}: ${answer.text}`).toBe(200);
  return answer.json() as Record<string, unknown>;
}

async function checkSelection(
  asked: object,
  holds: (call: LiveCall) => boolean,
  reading: Reading,
): Promise<void> {
  const { app, project_id, model, random } = reading;
  const told = `${reading.told}\n${JSON.stringify(asked)}`;
  const selected = model.live().filter(holds);
  const usage = await ask("/trace/usage", asked, reading);
  const totals = Object.entries(usage["call_usage"] as Record<string, { m?: { prompt_tokens: number } }>);
  expect(Object.fromEntries(totals.map(([id, { m }]) => [id, m?.prompt_tokens ?? 0])), told).toEqual(
    Object.fromEntries(selected.map(({ id }) => [id, model.tokensBelow(id)])),
  );
  if (random() < 0.6) return;
  const listed = await app.post("/calls/stream_query", {
    project_id,
    ...asked,
    columns: ["id", "display_name"],
  });
  expect(listed.status, told).toBe(200);
  const lines = listed.text.split("\n").slice(0, -1);
  const names = lines.map((line) => JSON.parse(line) as { id: string; display_name: string | null });
  expect(
    names.map(({ id, display_name }) => [id, display_name]),
    told,
  ).toEqual(selected.map(({ id, name }) => [id, name]));
  expect(await ask("/calls/query_stats", asked, reading), told).toEqual({ count: selected.length });
}

async function checkTotals(selected: readonly LiveCall[], asked: object, reading: Reading): Promise<void> {
  const question = {
    start: iso(WINDOW[0]),
    end: iso(WINDOW[1]),
    granularity: 86_400,
    group_by: ["trace_id"],
    ...asked,
  };
  const { groups } = (await ask("/usage/stats", question, reading)) as {
    groups: { key: { trace_id: string }; total: { calls: number; prompt_tokens: number } }[];
  };
  const expected = new Map<string, { calls: number; prompt_tokens: number }>();
  for (const { trace, tokens } of selected) {
    const sum = expected.get(trace) ?? { calls: 0, prompt_tokens: 0 };
    expected.set(trace, { calls: sum.calls + 1, prompt_tokens: sum.prompt_tokens + tokens });
  }
  expect(
    Object.fromEntries(groups.map(({ key, total }) => [key.trace_id, [total.calls, total.prompt_tokens]])),
    reading.told,
  ).toEqual(Object.fromEntries([...expected].map(([trace, sum]) => [trace, [sum.calls, sum.prompt_tokens]])));
}
