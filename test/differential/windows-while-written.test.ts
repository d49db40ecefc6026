import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const RUNS = runs(2, 15);
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 2, 10);
const HOURS = 6;
const TRACES = 5;

/** Runs something before or after the statement of ours that comes next but so many. */
interface Meanwhile {
  readonly after: number;
  readonly run: () => Promise<void>;
}

let meanwhile: Meanwhile | undefined;

/** Statements of questions and of ingest; not those of jobs. */
const OURS = /^(?:usage_|trace_hours_|multi_hour_traces_|call_keys_|calls_add)/;

async function goOn(): Promise<void> {
  if (meanwhile === undefined) return;
  const { after, run } = meanwhile;
  meanwhile = after === 0 ? undefined : { after: after - 1, run };
  if (after === 0) await run();
}

function interrupted(engine: Engine): Engine {
  return interceptStatements(engine, async (name, run) => {
    if (!OURS.test(name)) return run();
    await goOn();
    const result = await run();
    await goOn();
    return result;
  });
}

let apps: readonly TestApp[];
beforeAll(async () => {
  const first = await startApp({ wrapEngine: interrupted });
  apps = [first, await startAppOn(first.engine, { wrapEngine: interrupted })];
}, 120_000);
afterAll(async () => {
  for (const app of apps.toReversed()) await app.close();
});

const hour = fc.nat(HOURS - 1);
const by = fc.nat(1);
/** Calls in one batch, which is stored at one moment; the first call of a trace is its root. */
const add = fc.record({
  does: fc.constant("add" as const),
  by,
  calls: fc.array(fc.record({ trace: fc.nat(TRACES - 1), hour }), { minLength: 1, maxLength: 4 }),
});
/** The root of a trace is said to have started at another time. */
const move = fc.record({ does: fc.constant("move" as const), by, trace: fc.nat(TRACES - 1), hour });
const write = fc.oneof({ weight: 4, arbitrary: add }, move);
type Write = typeof write extends fc.Arbitrary<infer One> ? One : never;

/** Few, so that they are asked again. */
const ask = fc.record({ by, from: fc.nat(2).map((at) => at * 2), length: fc.integer({ min: 1, max: 3 }) });
type Ask = typeof ask extends fc.Arbitrary<infer One> ? One : never;

/** One of them begins, and the other runs while it does. */
const step = fc.record({ write, ask, begins: fc.constantFrom("write", "ask"), after: fc.nat(6) });

const iso = (at: number): string => new Date(BEGIN_MS + at * HOUR_MS + 60_000).toISOString();
const literalHour = (at: number): object => ({ $literal: new Date(BEGIN_MS + at * HOUR_MS).toISOString() });

const USED_ONCE = { usage: { m: { requests: 1 } } };

function within(from: number, length: number): object {
  const at = { $getField: "started_at" };
  return { $and: [{ $gte: [at, literalHour(from)] }, { $lt: [at, literalHour(from + length)] }] };
}

/** A project, as it should be. */
class Project {
  readonly id: string;
  #traces: ReadonlyMap<number, { readonly calls: number; readonly rootHour: number }> = new Map();

  constructor(id: string) {
    this.id = id;
  }

  /** The calls below each root that started in these hours. */
  expected({ from, length }: Ask): Readonly<Record<string, number>> {
    const roots = [...this.#traces].filter(
      ([, { rootHour }]) => rootHour >= from && rootHour < from + length,
    );
    return Object.fromEntries(roots.map(([trace, { calls }]) => [`${trace}-0`, calls]));
  }

  async write(one: Write): Promise<void> {
    const after = new Map(this.#traces);
    const batch: object[] = [];
    if (one.does === "move") {
      const known = after.get(one.trace);
      if (known === undefined) return;
      batch.push(this.#start(one.trace, 0, one.hour));
      after.set(one.trace, { ...known, rootHour: one.hour });
    } else {
      for (const { trace, hour: at } of one.calls) {
        const { calls, rootHour } = after.get(trace) ?? { calls: 0, rootHour: at };
        const end = {
          project_id: this.id,
          id: `${trace}-${calls}`,
          ended_at: iso(at),
          output: {},
          summary: USED_ONCE,
        };
        batch.push(this.#start(trace, calls, at), { mode: "end", req: { end } });
        after.set(trace, { calls: calls + 1, rootHour });
      }
    }
    const response = await apps[one.by]!.post("/call/upsert_batch", { batch });
    expect(response.status, response.text).toBe(200);
    expect(response.json().rejected ?? []).toEqual([]);
    this.#traces = after;
  }

  async ask({ by: who, from, length }: Ask): Promise<Readonly<Record<string, number>>> {
    const response = await apps[who]!.post("/trace/usage", {
      project_id: this.id,
      filter: { trace_roots_only: true },
      query: { $expr: within(from, length) },
    });
    expect(response.status, response.text).toBe(200);
    const usage = response.json().call_usage as Record<string, { m: { requests: number } }>;
    return Object.fromEntries(Object.entries(usage).map(([id, { m }]) => [id, m.requests]));
  }

  #start(trace: number, call: number, at: number): object {
    const parent_id = call === 0 ? null : `${trace}-0`;
    const names = { project_id: this.id, id: `${trace}-${call}`, trace_id: `trace-${trace}`, parent_id };
    const start = { ...names, op_name: "op", started_at: iso(at), inputs: {}, attributes: {} };
    return { mode: "start", req: { start } };
  }
}

describe("a window of calls", () => {
  let runs = 0;

  it("contains complete traces of one moment, during any writes", async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 10, size: "max" }), async (steps) => {
      const project = new Project(`acme/window-${runs++}`);
      for (const one of steps) {
        const possible = [project.expected(one.ask)];
        const responses: Readonly<Record<string, number>>[] = [];
        const works = {
          ask: async () => void responses.push(await project.ask(one.ask)),
          write: async () => {
            await project.write(one.write);
            possible.push(project.expected(one.ask));
          },
        };
        meanwhile = { after: one.after, run: works[one.begins === "ask" ? "write" : "ask"] };
        await works[one.begins === "ask" ? "ask" : "write"]();
        if (meanwhile !== undefined) {
          const { run } = meanwhile;
          meanwhile = undefined;
          await run();
        }
        // a write that is not answered yet may be stored
        possible.push(project.expected(one.ask));
        expect(possible).toContainEqual(responses[0]);
        expect(await project.ask(one.ask)).toEqual(project.expected(one.ask));
      }
    });
    await fc.assert(property, { numRuns: RUNS, seed: chosenSeed() });
  });
});
