import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "../helpers/seeded-random.ts";
import { runs } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const BEGIN = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

interface Call {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly op: string;
  readonly atMs: number;
  readonly kind: string;
}

const sent = ({ id, trace, parent, op, atMs, kind }: Call) => ({
  id,
  trace_id: trace,
  parent_id: parent,
  op_name: op,
  started_at: new Date(BEGIN + atMs).toISOString(),
  ended_at: new Date(BEGIN + atMs + 1).toISOString(),
  inputs: { kind },
  attributes: {},
  output: null,
  summary: { usage: { m: { requests: 1, prompt_tokens: 1 } } },
});

async function ingest(project: string, calls: readonly Call[]): Promise<void> {
  const answer = await test.post(`/v2/${project}/calls/complete`, { batch: calls.map(sent) });
  expect(answer.json()).toEqual({ rejected: [] });
}

async function withoutRoot(project_id: string, question: object): Promise<string> {
  const answer = await test.post("/trace/usage", { project_id, ...question });
  expect(answer.status, answer.text).toBe(200);
  return String(answer.headers["x-traces-without-root"]);
}

const span = (id: string, parent: string | null, more: Partial<Call> = {}): Call => ({
  id,
  trace: "t",
  parent,
  op: "op",
  atMs: 0,
  kind: "a",
  ...more,
});

describe("x-traces-without-root", () => {
  const roots = { filter: { trace_roots_only: true } };

  it("counts a trace whose root has not arrived, until it arrives", async () => {
    const project = "acme/late-root";
    await ingest(project, [span("child", "root"), span("grandchild", "child")]);
    expect(await withoutRoot(project, roots)).toBe("1");
    expect(await withoutRoot(project, {})).toBe("1");
    expect(await withoutRoot(project, { filter: { trace_ids: ["t"], trace_roots_only: true } })).toBe("1");
    await ingest(project, [span("root", null)]);
    expect(await withoutRoot(project, roots)).toBe("0");
    expect(await withoutRoot(project, { filter: { trace_ids: ["t"], trace_roots_only: true } })).toBe("0");
  });

  it("does not count deleted traces, nor a trace with a root and an orphan", async () => {
    const project = "acme/orphans";
    await ingest(project, [
      span("orphan", "nowhere", { trace: "one" }),
      span("root", null, { trace: "two" }),
      span("second", "nowhere", { trace: "two" }),
    ]);
    expect(await withoutRoot(project, roots)).toBe("1");
    await test.post("/calls/delete", { project_id: project, call_ids: ["orphan"] });
    expect(await withoutRoot(project, roots)).toBe("0");
    await test.post("/calls/delete", { project_id: project, call_ids: ["root"] });
    expect(await withoutRoot(project, roots)).toBe("1");
  });

  it("is exact for a truncated response, and counts only the project", async () => {
    const orphans = Array.from({ length: 7 }, (_, n) => span(`c${n}`, "gone", { trace: `t${n}`, atMs: n }));
    await ingest("acme/cut", [
      ...orphans,
      span("root", null, { trace: "r" }),
      span("late", null, { trace: "s" }),
    ]);
    const answer = await test.post("/trace/usage", { project_id: "acme/cut", limit: 1, ...roots });
    expect([answer.headers["x-truncated"], answer.headers["x-traces-without-root"]]).toEqual(["true", "7"]);
    expect(await withoutRoot("acme/other", roots)).toBe("0");
  });

  it("equals the count of a model, for any query", async () => {
    const seeded = seededRandom();
    const random = () => seeded.next();
    let counted = 0;
    for (let run = 0; run < runs(2, 60); run++) {
      const project = `acme/model-${run}`;
      const calls = drawCalls(random);
      await ingest(project, calls);
      for (const question of QUESTIONS) {
        const expected = tracesOf(
          calls.filter((call) => question.matches(call) && !hasRoot(calls, call.trace)),
        );
        counted += expected.length;
        expect(await withoutRoot(project, question.body), JSON.stringify([run, question.body])).toBe(
          String(expected.length),
        );
        const { trace_roots_only: _, ...filter } = question.body.filter ?? {};
        const listed = await test.post("/calls/stream_query", {
          project_id: project,
          ...question.body,
          filter: { ...filter, traces_without_root: true },
          sort_by: [{ field: "started_at", direction: "desc" }],
        });
        const topmost = calls.filter(
          (call) =>
            question.matches(call) &&
            !hasRoot(calls, call.trace) &&
            !calls.some(({ id, trace }) => trace === call.trace && id === call.parent),
        );
        const ids = listed.text
          .split("\n")
          .filter(Boolean)
          .map((line) => (JSON.parse(line) as Call).id);
        expect(ids.toSorted(), JSON.stringify([run, question.body])).toEqual(
          topmost.map(({ id }) => id).toSorted(),
        );
      }
    }
    expect(counted).toBeGreaterThan(0);
  });
});

const hasRoot = (calls: readonly Call[], trace: string): boolean =>
  calls.some((call) => call.trace === trace && call.parent === null);
const tracesOf = (calls: readonly Call[]): string[] => [...new Set(calls.map(({ trace }) => trace))];

const field = (name: string) => ({ $getField: name });
const at = (ms: number) => ({ $literal: new Date(BEGIN + ms).toISOString() });
const within = (from: number, to: number) => ({
  $expr: { $and: [{ $gte: [field("started_at"), at(from)] }, { $lt: [field("started_at"), at(to)] }] },
});

interface Asked {
  readonly body: { readonly filter?: Record<string, unknown>; readonly query?: object };
  readonly matches: (call: Call) => boolean;
}

/** One for each way in which calls are found, with roots alone and without. */
const ANY: readonly Asked[] = [
  { body: {}, matches: () => true },
  { body: { query: within(0, 2 * HOUR) }, matches: ({ atMs }) => atMs < 2 * HOUR },
  { body: { query: within(HOUR, 9 * HOUR) }, matches: ({ atMs }) => atMs >= HOUR && atMs < 9 * HOUR },
  { body: { filter: { op_names: ["x"] } }, matches: ({ op }) => op === "x" },
  {
    body: { filter: { op_names: ["x"] }, query: within(0, HOUR) },
    matches: ({ op, atMs }) => op === "x" && atMs < HOUR,
  },
  { body: { filter: { trace_ids: ["t0"] } }, matches: ({ trace }) => trace === "t0" },
  {
    body: { filter: { trace_ids: ["t1", "t2"], op_names: ["y"] } },
    matches: ({ trace, op }) => /[12]/.test(trace) && op === "y",
  },
  { body: { filter: { call_ids: ["t0-0", "t3-1"] } }, matches: ({ id }) => id === "t0-0" || id === "t3-1" },
  {
    body: { query: { $expr: { $eq: [field("inputs.kind"), { $literal: "b" }] } } },
    matches: ({ kind }) => kind === "b",
  },
];
const QUESTIONS = ANY.flatMap((asked): Asked[] => [
  asked,
  { ...asked, body: { ...asked.body, filter: { ...asked.body.filter, trace_roots_only: true } } },
]);

/** Traces over some hours, of which some have roots, some lack them and some have several. */
function drawCalls(random: () => number): Call[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  return Array.from({ length: 4 }, (_, trace) => `t${trace}`).flatMap((trace) => {
    const begin = random() * 10 * HOUR;
    const rooted = random() < 0.4;
    return Array.from({ length: 1 + Math.floor(random() * 5) }, (_, n): Call => {
      const above = n === 0 ? [`${trace}-none`] : [`${trace}-${Math.floor(random() * n)}`, `${trace}-gone`];
      return {
        id: `${trace}-${n}`,
        trace,
        parent: rooted && (n === 0 || random() < 0.1) ? null : pick(above),
        op: pick(["x", "y"]),
        atMs: Math.floor(begin + n * random() * HOUR),
        kind: pick(["a", "b"]),
      };
    });
  });
}
