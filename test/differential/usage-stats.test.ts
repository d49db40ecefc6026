import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest, type CallRow } from "../helpers/forests.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { addTotals, picodollars, sumOf, type Total } from "../helpers/usage-totals.ts";

/** Histories of a project, each of several steps. */
const RUNS = Number(process.env["USAGE_STATS_RUNS"] ?? 12);
const seed = Number(process.env["PROPERTY_SEED"] ?? 20261122);
const BEGIN = Date.UTC(2026, 2, 28, 20);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const WEAVE = { weave: { source: "python-sdk" } };

/** Messages of a trace whose calls all lie below one root, so that its total is the root's. */
function messagesOf(rows: readonly CallRow[], trace: string) {
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
  };
}

/** The roots of all traces together, as the roll-up tells. */
async function rootsOf(project_id: string): Promise<Total> {
  const answer = await test.post("/trace/usage", {
    project_id,
    filter: { trace_roots_only: true },
    include_costs: true,
  });
  expect(answer.status, answer.text).toBe(200);
  const entries = Object.values(answer.json().call_usage as Record<string, Record<string, Total>>);
  return sumOf(entries.flatMap((perLlm) => Object.values(perLlm)));
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

function usageOf(total: Total): Total {
  return Object.fromEntries(USAGE.map((name) => [name, total[name] ?? 0]));
}

interface Answer {
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
function expectSums(answer: Answer): void {
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

const question = fc.record({
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"),
  granularity: fc.constantFrom(3600, 5400, 86_400, undefined),
  group_by: fc.subarray<unknown>(
    ["llm", "provider", "op_name", "svc_user_id", "status", { $getField: "attributes.tenant" }, "trace_id"],
    { maxLength: 4 },
  ),
  limit: fc.integer({ min: 1, max: 20 }),
  order_by: fc.constantFrom("calls", "total_tokens", "total_cost", "other_cost", undefined),
});
const WINDOW = { start: "2026-03-28T00:00:00Z", end: "2026-04-01T00:00:00Z", include_costs: true };

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("end" as const), pick: fc.nat(1000), tokens: fc.nat(9000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), pick: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("start" as const), pick: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("price" as const), usd: fc.nat(500) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A late end, a deletion, a call that comes late, a price of the past. */
async function take(one: Step, { project, ids, number }: { project: string; ids: string[]; number: number }) {
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
  const answer = await test.post(url, body);
  expect(answer.status, answer.text).toBe(200);
  if (one.kind === "start") ids.push(`${trace}-late${number}`);
}

describe("POST /usage/stats", () => {
  it(
    "sums up to the roots of the traces after every step, whatever is asked",
    { timeout: 600_000 },
    async () => {
      let projects = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
            minLength: 1,
            maxLength: 3,
          }),
          fc.array(fc.tuple(step, question), { minLength: 2, maxLength: 4 }),
          async (forests, steps) => {
            const project = `acme/stats-${projects++}`;
            const batch = forests.flatMap((rows, number) => messagesOf(rows, `t${number}`));
            const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
            expect(stored.json()).toEqual({ rejected: [] });
            const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
            for (const [number, [one, asked]] of steps.entries()) {
              await take(one, { project, ids, number });
              const answer = await test.post("/usage/stats", { project_id: project, ...WINDOW, ...asked });
              expect(answer.status, answer.text).toBe(200);
              expectSums(answer.json());
              const [total, roots] = [picodollars(usageOf(answer.json().total)), await rootsOf(project)];
              expect(total).toEqual(picodollars(usageOf(roots)));
            }
          },
        ),
        { numRuns: RUNS, seed, endOnFailure: true },
      );
    },
  );

  it("counts what is acknowledged, and sums up, while calls come in", { timeout: 120_000 }, async () => {
    const project = "acme/stats-writers";
    let acknowledged = 0;
    const rows = fc.sample(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
      numRuns: 40,
      seed,
    });
    const write = async (writer: number): Promise<void> => {
      for (let number = 0; number < rows.length; number++) {
        const batch = messagesOf(rows[number]!, `w${writer}x${number}`);
        await test.post(`/v2/${project}/calls/complete`, { batch });
        acknowledged += batch.length;
      }
    };
    const writers = [write(0), write(1)];
    for (let asked = 0; asked < 8; asked++) {
      const before = acknowledged;
      const group_by = asked % 2 === 0 ? ["llm", "status"] : ["trace_id"];
      const answer = await test.post("/usage/stats", { project_id: project, ...WINDOW, group_by, limit: 3 });
      expectSums(answer.json());
      expect(answer.json().total.calls).toBeGreaterThanOrEqual(before);
    }
    await Promise.all(writers);
    const answer = await test.post("/usage/stats", { project_id: project, ...WINDOW });
    expect(picodollars(usageOf(answer.json().total))).toEqual(picodollars(usageOf(await rootsOf(project))));
    expect(answer.json().total.calls).toBe(acknowledged);
  });
});
