import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { outcomeOf, plus, ratedAmong, type RatedOne, type WrittenCall } from "../models/rated-project.ts";
import { ratingsOf, type Condition, type Feedback } from "../models/ratings.ts";
import { messagesOf, WINDOW } from "../models/usage-history.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed, seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 2, 28, 18);
const LLMS = ["gpt-4o", "claude-sonnet-4-5", "our-own-model"];
const OPS = ["answer", "plan", "search"];
const CONDITIONS: readonly Condition[] = [
  { feedback_type: "score", json_path: "output.score", op: "$gte", value: 0.5 },
  { json_path: "output.score", op: "$lt", value: 0.7 },
  { feedback_type: "verdict", json_path: "passed", op: "$eq", value: true },
  { feedback_type: null, json_path: "label", op: "$in", value: ["good", "fine"] },
  { json_path: "label", op: "$contains", value: "oo" },
];

const random = seededRandom();
const below = (most: number) => Math.floor(random.next() * most);
const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;

/** A project as it was written, without what was deleted and purged. */
class Project {
  readonly id: string;
  calls: WrittenCall[] = [];
  feedback: Feedback[] = [];
  private made = 0;

  constructor(id: string) {
    this.id = id;
  }

  async write(traces: number): Promise<void> {
    const calls = Array.from({ length: traces }, () => this.newTrace()).flat();
    // a call of another trace with the id of one that there is
    const twin = {
      ...oneOf(calls),
      trace: `twin-${this.made}`,
      parent: null,
      startedMs: BEGIN + below(40) * HOUR,
    };
    const all = [
      ...calls,
      { ...twin, usage: { "gpt-4o": { prompt: 7 + below(50), completion: 1 } }, wraps: false },
    ];
    await this.send(all);
    await this.send(all.filter(() => random.next() < 0.2));
    this.calls.push(...all);
  }

  private newTrace(): WrittenCall[] {
    const trace = `t${this.made++}`;
    const beginMs = BEGIN + below(30 * 60) * 60_000;
    const calls: WrittenCall[] = [];
    for (let place = below(5); place >= 0; place--) {
      const children = calls.filter(({ parent }) => parent === `${trace}-${place}`);
      const isRunning = random.next() < 0.15;
      const reports = random.next() < 0.7;
      const mine = reports
        ? { [oneOf(LLMS)]: tokens(), ...(random.next() < 0.3 ? { [oneOf(LLMS)]: tokens() } : {}) }
        : {};
      const wraps = !isRunning && random.next() < 0.5;
      const reported = wraps ? children.map(({ usage }) => usage).reduce(plus, mine) : mine;
      calls.push({
        id: `${trace}-${place}`,
        trace,
        // now and then a second root, or a parent that never comes
        parent: place === 0 || random.next() < 0.1 ? null : oneOf([`${trace}-${below(place)}`, `${trace}-0`]),
        startedMs: beginMs + place * (random.next() < 0.1 ? 2 * HOUR : 1000),
        fields: {
          op_name: oneOf(OPS),
          thread_id: oneOf([null, "a", "b"]),
          "attributes.tenant": oneOf([null, "north", "south"]),
        },
        wraps,
        usage: isRunning ? {} : reported,
      });
    }
    return calls;
  }

  private async send(calls: readonly WrittenCall[]): Promise<void> {
    const batch = calls.map(({ id, trace, parent, startedMs, fields, wraps, usage }) => ({
      id,
      trace_id: trace,
      parent_id: parent,
      op_name: fields.op_name,
      thread_id: fields.thread_id,
      started_at: new Date(startedMs).toISOString(),
      ended_at: Object.keys(usage).length === 0 ? null : new Date(startedMs + 500).toISOString(),
      inputs: {},
      attributes: {
        tenant: fields["attributes.tenant"],
        ...(wraps ? { weave: { source: "python-sdk" } } : {}),
      },
      summary: {
        usage: Object.fromEntries(
          Object.entries(usage).map(([llm, { prompt, completion }]) => [
            llm,
            {
              requests: 1,
              prompt_tokens: prompt,
              completion_tokens: completion,
              total_tokens: prompt + completion,
            },
          ]),
        ),
      },
    }));
    const stored = await test.post(`/v2/${this.id}/calls/complete`, { batch });
    expect(stored.json()).toEqual({ rejected: [] });
  }

  /** Ratings of calls, some of them again, some of ids that no call has; some long after the call. */
  async rate(count: number): Promise<void> {
    const batch = Array.from({ length: count }, (): Feedback => {
      const label = oneOf(["good", "fine", "bad", "", 7]);
      const id = oneOf([...this.calls.map((call) => call.id), "never-seen"]);
      return {
        id: `f${this.made++}`,
        weave_ref: `weave:///${random.next() < 0.05 ? "acme/else" : this.id}/call/${id}`,
        feedback_type: oneOf(["score", "verdict", "note"]),
        created_at: new Date(BEGIN + below(4) * 2000 * HOUR).toISOString(),
        payload: oneOf([
          { output: { score: below(11) / 10 } },
          { output: { score: below(11) / 10 }, label },
          { passed: random.next() < 0.5 },
          { passed: oneOf(["true", 1, null]), label },
          { note: "no rating" },
        ]),
      };
    });
    const created = await test.post("/feedback/batch/create", {
      batch: batch.map((one) => ({ project_id: this.id, ...one })),
    });
    expect(created.json().rejected).toEqual([]);
    this.feedback.push(...batch);
  }

  async purge(): Promise<void> {
    const gone = this.feedback.filter(() => random.next() < 0.1).map(({ id }) => id);
    const $in = [{ $getField: "id" }, [...gone, "x"].map(($literal) => ({ $literal }))];
    const purged = await test.post("/feedback/purge", { project_id: this.id, query: { $expr: { $in } } });
    expect(purged.status, purged.text).toBe(200);
    this.feedback = this.feedback.filter(({ id }) => !gone.includes(id));
  }

  async delete(): Promise<void> {
    const top = oneOf(this.calls);
    // of an id in two traces, either may go
    if (this.calls.some((call) => call.id === top.id && call !== top)) return;
    const deleted = await test.post("/calls/delete", { project_id: this.id, call_ids: [top.id] });
    expect(deleted.status, deleted.text).toBe(200);
    const gone = [top];
    for (const one of gone)
      gone.push(...this.calls.filter(({ trace, parent }) => trace === one.trace && parent === one.id));
    this.calls = this.calls.filter((call) => !gone.includes(call));
  }
}

function tokens() {
  return { prompt: 1 + below(100_000), completion: below(10_000) };
}

interface Answer {
  readonly groups: readonly { readonly key: object; readonly total: object }[];
  readonly other: { readonly groups: number; readonly total: object } | null;
  readonly total: object;
  readonly buckets: readonly {
    readonly timestamp: string;
    readonly total: object;
    readonly groups: readonly (object | null)[];
    readonly other: object | null;
  }[];
}

function question() {
  const of = oneOf(["calls", "traces"] as const);
  const names = ["op_name", "thread_id", "attributes.tenant", ...(of === "calls" ? ["llm", "provider"] : [])];
  const labels = names.filter(() => random.next() < 0.4).slice(0, 4);
  const op = oneOf([undefined, undefined, ...OPS]);
  const [from, to] = oneOf([
    [-24, 90],
    [5.3, 17.9],
  ] as const);
  return { of, labels, op, fromMs: BEGIN + from * HOUR, toMs: BEGIN + to * HOUR, limit: oneOf([1, 3, 100]) };
}

const ofGroup = (rated: readonly RatedOne[], labels: readonly string[], key: object) =>
  rated.filter((one) => labels.every((label) => one.key[label] === (key as Record<string, unknown>)[label]));

/** Asks the service and the written data, and compares every total. */
async function compare(project: Project): Promise<number> {
  const { of, labels, op, fromMs, toMs, limit } = question();
  const outcome = oneOf(CONDITIONS);
  const order_by = oneOf(["rated", "passed", "cost_per_passed"] as const);
  const asked = {
    project_id: project.id,
    start: new Date(fromMs).toISOString(),
    end: new Date(toMs).toISOString(),
    of,
    group_by: labels.map((label) => (label.startsWith("attributes.") ? { $getField: label } : label)),
    timezone: oneOf(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
    granularity: oneOf([3600, 86_400, undefined]),
    include_costs: true,
    limit,
    ...(op !== undefined && { filter: { op_names: [op] } }),
  };
  const response = await test.post("/usage/stats", { ...asked, outcome, order_by });
  expect(response.status, response.text).toBe(200);
  const answer = response.json() as Answer;
  const rated = ratedAmong(project.calls, ratingsOf(project.id, project.feedback, outcome), {
    of,
    isSelected: ({ startedMs, fields }) =>
      startedMs >= fromMs && startedMs < toMs && (op === undefined || fields.op_name === op),
  });
  const place = JSON.stringify({ ...asked, outcome });
  const check = (total: object | null, some: readonly RatedOne[]): void => {
    if (total !== null) expect(total, place).toMatchObject(outcomeOf(some));
    else expect(some, place).toEqual([]);
  };
  const byGroup = answer.groups.map(({ key }) => ofGroup(rated, labels, key));
  const rest = rated.filter((one) => !byGroup.some((some) => some.includes(one)));
  check(answer.total, rated);
  check(answer.other?.total ?? null, rest);
  for (const [at, { total }] of answer.groups.entries()) check(total, byGroup[at]!);
  const starts = answer.buckets.map(({ timestamp }) => Date.parse(timestamp));
  for (const [at, bucket] of answer.buckets.entries()) {
    const ofBucket = (some: readonly RatedOne[]) =>
      some.filter(({ startedMs }) => starts.findLastIndex((start) => start <= startedMs) === at);
    check(bucket.total, ofBucket(rated));
    check(bucket.other, ofBucket(rest));
    for (const [group, total] of bucket.groups.entries()) check(total, ofBucket(byGroup[group]!));
  }
  const orders = byGroup.map((some) => outcomeOf(some)[order_by] ?? -Infinity);
  expect(orders, place).toEqual(orders.toSorted((one, other) => (one === other ? 0 : other - one)));

  // without an outcome, the rest of the response is the same
  if (order_by === "rated") {
    const members = ["rated", "passed", "cost_per_passed"];
    const order = { order_by: "calls" };
    const plain = await test.post("/usage/stats", { ...asked, ...order });
    const both = await test.post("/usage/stats", { ...asked, ...order, outcome });
    const less = JSON.stringify(both.json(), (name, value: unknown) =>
      members.includes(name) ? undefined : value,
    );
    expect(less).toBe(JSON.stringify(plain.json()));
  }
  return rated.length;
}

describe("outcomes of /usage/stats", () => {
  it("are those of plain JavaScript over the written calls and feedback", { timeout: 600_000 }, async () => {
    let [rated, materialized] = [0, 0];
    for (let number = 0; number < runs(1, 40); number++) {
      const project = new Project(`acme/outcomes-${number}`);
      for (let step = 0; step < 4; step++) {
        await project.write(5);
        if (random.next() < 0.5) materialized += await materializeAll(test.engine);
        await project.rate(35);
        if (step % 2 === 1) await project.purge();
        if (step > 0) await project.delete();
        for (let ask = 0; ask < 2; ask++) rated += await compare(project);
      }
      materialized += await materializeAll(test.engine);
      for (let ask = 0; ask < 4; ask++) rated += await compare(project);
    }
    expect([rated > 20, materialized > 0]).toEqual([true, true]);
  });

  it("cost what everything costs, if everything is rated", { timeout: 600_000 }, async () => {
    let projects = 0;
    const outcome = { json_path: "good", op: "$eq", value: true };
    const shape = { include_costs: true, granularity: 86_400, outcome };
    await fc.assert(
      fc.asyncProperty(
        fc.array(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
          minLength: 2,
          maxLength: 3,
        }),
        async (forests) => {
          const project_id = `acme/all-rated-${projects++}`;
          const batch = forests.flatMap((rows, number) => messagesOf(rows, `t${number}`));
          expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).json()).toEqual({
            rejected: [],
          });
          const feedback = batch.map(({ id }) => ({
            project_id,
            weave_ref: `weave:///${project_id}/call/${id}`,
            feedback_type: "verdict",
            payload: { good: true },
          }));
          await test.post("/feedback/batch/create", { batch: feedback });
          for (const of of ["calls", "traces"] as const) {
            const asked = { project_id, ...WINDOW, ...shape, of, group_by: ["op_name", "svc_user_id"] };
            const { groups, total, buckets } = (await test.post("/usage/stats", asked)).json();
            for (const one of [
              total,
              ...[groups, buckets].flat().map((each: { total: object }) => each.total),
            ]) {
              const count = of === "calls" ? one.calls : one.traces;
              const each = one.total_cost === null || count === 0 ? null : one.total_cost / count;
              expect(one).toMatchObject({ rated: count, passed: count, cost_per_passed: each });
            }
            if (of === "calls") await materializeAll(test.engine);
          }
        },
      ),
      { numRuns: runs(1, 30), seed: chosenSeed(), endOnFailure: true },
    );
  });
});
