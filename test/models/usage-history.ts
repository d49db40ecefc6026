import fc from "fast-check";
import { expect } from "vitest";
import type { CallRow } from "./forests.ts";
import type { TestResponse as HttpAnswer } from "../helpers/start-app.ts";
import { addTotals, picodollars, sumOf, type Total } from "./usage-totals.ts";

/** POSTs JSON to the service. */
export type Ask = (url: string, body: unknown) => Promise<Pick<HttpAnswer, "status" | "text" | "json">>;

const BEGIN = Date.UTC(2026, 2, 28, 20);
/** All calls of a history start in it. */
export const WINDOW = { start: "2026-03-28T00:00:00Z", end: "2026-04-01T00:00:00Z", include_costs: true };

const WEAVE = { weave: { source: "python-sdk" } };

/** Messages of a trace whose calls all lie below one root, so that its total is the root's. */
export function messagesOf(rows: readonly CallRow[], trace: string) {
  const ids = new Set(rows.map(({ id }) => id));
  const root = {
    id: `${trace}-top`,
    trace_id: trace,
    parent_id: null,
    op_name: "top",
    started_at: new Date(BEGIN).toISOString(),
    ended_at: null,
    inputs: {},
    attributes: {},
    output: null,
    summary: {},
  };
  const below = rows.map((row, number) => {
    const startedAt = BEGIN + row.startedAtMs * 100;
    return {
      id: `${trace}-${row.id}`,
      trace_id: trace,
      parent_id: `${trace}-${ids.has(row.parentId) ? row.parentId : "top"}`,
      op_name: `op-${number % 3}`,
      started_at: new Date(startedAt).toISOString(),
      ended_at: row.finished ? new Date(startedAt + 1 + number * 7).toISOString() : null,
      inputs: { number },
      attributes: {
        tenant: number % 4 === 0 ? { n: 1 } : number % 3,
        ...(row.inclusive === false ? {} : WEAVE),
      },
      output: row.completionId === undefined ? null : { id: row.completionId, choices: [], model: "m" },
      exception: number % 5 === 0 ? "boom" : null,
      summary: { usage: Object.fromEntries(row.usage.map((usage) => [usage.llm, countsOf(usage)])) },
      wb_user_id: `user-${number % 2}`,
    };
  });
  return [root, ...below];
}

function countsOf(usage: CallRow["usage"][number]) {
  return {
    requests: usage.requests,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheCreationTokens,
    ...unitsOf(usage),
  };
}

/** Units of some of the tokens, now and then of more than there are, others beside them, and stated costs. */
function unitsOf({
  requests,
  promptTokens,
  completionTokens,
  cacheCreationTokens,
}: CallRow["usage"][number]) {
  return {
    ...(requests % 2 === 1 ? { cost: (promptTokens >> 2) / 1e6 } : {}),
    ...(promptTokens % 4 === 1 ? { prompt_tokens_details: { audio_tokens: promptTokens >> 1 } } : {}),
    ...(promptTokens % 5 === 1 ? { server_tool_use: { web_search_requests: promptTokens % 7 } } : {}),
    ...(completionTokens % 5 === 2
      ? { completion_tokens_details: { audio_tokens: completionTokens + (completionTokens % 3) - 1 } }
      : {}),
    ...(cacheCreationTokens % 3 === 1
      ? { cache_creation: { ephemeral_1h_input_tokens: cacheCreationTokens } }
      : {}),
  };
}

/** The roots of all traces together, as the roll-up tells. */
export async function rootsOf(ask: Ask, project_id: string): Promise<Total> {
  const answer = await ask("/trace/usage", {
    project_id,
    filter: { trace_roots_only: true },
    include_costs: true,
  });
  expect(answer.status, answer.text).toBe(200);
  const entries = Object.values(answer.json().call_usage as Record<string, Record<string, Total>>);
  return sumOf(entries.flatMap((perLlm) => Object.values(perLlm)));
}

/** Sums the stated costs in the receipts of these calls, in picodollars; null if none has one. */
export async function statedBy(ask: Ask, project_id: string, ids: readonly string[]): Promise<number | null> {
  const receipts = await Promise.all(ids.map((call_id) => ask("/call/receipt", { project_id, call_id })));
  const stated = receipts.map((receipt) => receipt.json().total.stated_cost as number | null);
  const known = stated.filter((usd) => usd !== null);
  return known.length === 0 ? null : known.reduce((sum, usd) => sum + Math.round(usd * 1e12), 0);
}

const USAGE = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
];

export function usageOf(total: Total): Total {
  return Object.fromEntries(USAGE.map((name) => [name, total[name] ?? 0]));
}

interface StatsAnswer {
  readonly groups: readonly { readonly total: Total }[];
  readonly other: { readonly groups: number; readonly total: Total } | null;
  readonly total: Total;
  readonly buckets: readonly {
    readonly total: Total;
    readonly groups: readonly (Total | null)[];
    readonly other: Total | null;
  }[];
}

/** Groups and the rest, and buckets, are the total: in all, and in every bucket. */
export function expectSums(answer: StatsAnswer): void {
  const total = picodollars(answer.total);
  expect(
    addTotals([...answer.groups.map((group) => group.total), answer.other?.total ?? null], answer.total),
  ).toEqual(total);
  expect(
    addTotals(
      answer.buckets.map((bucket) => bucket.total),
      answer.total,
    ),
  ).toEqual(total);
  for (const bucket of answer.buckets)
    expect(addTotals([...bucket.groups, bucket.other], answer.total)).toEqual(picodollars(bucket.total));
  for (const [place, group] of answer.groups.entries())
    expect(
      addTotals(
        answer.buckets.map((bucket) => bucket.groups[place]!),
        answer.total,
      ),
    ).toEqual(picodollars(group.total));
}

export const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("end" as const), pick: fc.nat(1000), tokens: fc.nat(9000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), pick: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("start" as const), pick: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("price" as const), usd: fc.nat(500) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface History {
  readonly project: string;
  /** Ids of the calls that steps change; steps add the calls they start. */
  readonly ids: string[];
  readonly number: number;
}

/** A late end, a deletion, a call that comes late, a price of the past. */
export async function take(ask: Ask, one: Step, { project, ids, number }: History): Promise<void> {
  const id = "pick" in one ? ids[one.pick % ids.length]! : "";
  const trace = id.split("-")[0];
  const usage = { "gpt-4o": { requests: 1, prompt_tokens: "tokens" in one ? one.tokens : 5 } };
  const messages = {
    end: [
      "/call/end",
      { end: { project_id: project, id, ended_at: "2026-03-29T12:00:00Z", summary: { usage } } },
    ],
    delete: ["/calls/delete", { project_id: project, call_ids: [id] }],
    start: [
      "/call/start",
      {
        start: {
          project_id: project,
          id: `${trace}-late${number}`,
          trace_id: trace,
          parent_id: id,
          op_name: "late",
          started_at: "2026-03-30T01:00:00Z",
          inputs: {},
          attributes: {},
        },
      },
    ],
    price: [
      "/cost/create",
      {
        project_id: project,
        costs: {
          "no-such-model": {
            prompt_token_cost: "usd" in one ? one.usd / 1e6 : 0,
            completion_token_cost: 0.000002,
            effective_date: "2026-01-01T00:00:00Z",
          },
        },
      },
    ],
  } as const;
  const [url, body] = messages[one.kind];
  const answer = await ask(url, body);
  expect(answer.status, answer.text).toBe(200);
  if (one.kind === "start") ids.push(`${trace}-late${number}`);
}
