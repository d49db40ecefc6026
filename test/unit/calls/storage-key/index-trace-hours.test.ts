import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createTraceHourIndex,
  type IndexTraceHours,
  type TraceHour,
} from "../../../../src/calls/storage-key/index-trace-hours.ts";
import { WriteCounters } from "../../../../src/store/write-counters.ts";
import type { Engine, QueryOptions } from "../../../../src/store/engine.ts";
import type { Project } from "../../../../src/shared/project.ts";
import type { StatementFate } from "../../../helpers/faulty-engine.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";

const project_id = "acme/index" as Project;
const traceHour = (trace_id: string, hour: number): TraceHour => ({ project_id, trace_id, hour });

/** Store of the two tables, whose statements take effect at some moment while they run. */
class Store {
  readonly rows: Record<string, TraceHour[]> = { trace_hours: [], multi_hour_traces: [] };
  readonly queries: string[] = [];
  readonly #counts = new WriteCounters();
  readonly #pause: () => Promise<void>;
  readonly #fates: StatementFate[];

  constructor(pause: () => Promise<void> = async () => undefined, fates: readonly StatementFate[] = []) {
    this.#pause = pause;
    this.#fates = [...fates];
  }

  /** Engine with the methods that the index uses. */
  get engine(): Engine {
    const used: Partial<Engine> = {
      writeCountOf: (table) => this.#counts.of(table),
      insert: (table, rows) => this.#insert(table, rows as readonly TraceHour[]),
      rows: async <Row>(_: unknown, { name }: QueryOptions) => (await this.#read(name)) as Row[],
    };
    return used as Engine;
  }

  hoursOf(table: string, trace: string): number[] {
    const hours = this.rows[table]!.filter((row) => row.trace_id === trace).map((row) => row.hour);
    return [...new Set(hours)].toSorted((a, b) => a - b);
  }

  async deleteAll(): Promise<void> {
    await this.#counts.during(undefined, async () => {
      for (const table of Object.keys(this.rows)) this.rows[table] = [];
    });
  }

  async #insert(table: string, rows: readonly TraceHour[]): Promise<void> {
    if (rows.length === 0) return;
    // queues before it begins
    await this.#pause();
    await this.#counts.during(table, async () => {
      const fate = this.#fates.shift() ?? "done";
      await this.#pause();
      if (fate !== "refused") this.rows[table]!.push(...rows);
      await this.#pause();
      if (fate !== "done") throw new Error(fate);
    });
  }

  async #read(name: string): Promise<unknown> {
    this.queries.push(name);
    await this.#pause();
    const found = this.#found();
    await this.#pause();
    return found;
  }

  #found(): unknown {
    const stored = this.rows["trace_hours"]!;
    return [...new Set(stored.map((row) => row.trace_id))].map((trace_id) => ({
      project_id,
      trace_id,
      hours: this.hoursOf("trace_hours", trace_id),
    }));
  }
}

const writerOf = (store: Store): IndexTraceHours => createTraceHourIndex(store.engine);

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("index" as const),
      by: fc.nat(1),
      hours: fc.array(
        fc
          .tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(2))
          .map(([trace, hour]) => traceHour(trace, hour)),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("rest" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restart" as const), by: fc.nat(1) }) },
);
const fates = fc.array(fc.constantFrom<StatementFate>("done", "done", "done", "done", "refused", "untold"), {
  size: "max",
  maxLength: 20,
});

describe("two concurrent writers of the index, with failing statements", () => {
  it("index all hours of each multi-hour trace, and read them", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20, size: "max" }),
      fates,
      fc.scheduler(),
      async (steps, fate, scheduler) => {
        const store = new Store(() => scheduler.schedule(Promise.resolve()), fate);
        const writers = [0, 1].map(() => writerOf(store));
        // indexed since the last deletion
        let indexed: TraceHour[] = [];
        let running: Promise<void>[] = [];
        let begun = 0;
        const rest = async (): Promise<void> => {
          await scheduler.waitIdle();
          await Promise.all(running);
          running = [];
          for (const trace of new Set(indexed.map((one) => one.trace_id))) {
            const hours = new Set(indexed.filter((one) => one.trace_id === trace).map((one) => one.hour));
            const [stored, multiHour] = ["trace_hours", "multi_hour_traces"].map((table) =>
              store.hoursOf(table, trace),
            );
            expect(stored).toEqual(expect.arrayContaining([...hours]));
            if (hours.size > 1) expect(multiHour).toEqual(expect.arrayContaining([...hours]));
          }
        };
        const index = async (by: number, hours: readonly TraceHour[]): Promise<void> => {
          const turn = ++begun;
          const isFirst = running.length === 0;
          const found = await writers[by]!(hours).catch(() => undefined);
          if (found === undefined) return;
          indexed.push(...hours);
          const isAlone = isFirst && begun === turn;
          for (const { trace_id, hour } of hours) {
            const told = [...found].find(([key]) => key.endsWith(trace_id))![1];
            expect(told).toContain(hour);
            if (isAlone)
              expect(told.toSorted((a, b) => a - b)).toEqual(store.hoursOf("trace_hours", trace_id));
          }
        };
        for (const one of steps) {
          if (one.does === "index") {
            running.push(index(one.by, one.hours));
            if (scheduler.count() > 0) await scheduler.waitOne();
            continue;
          }
          await rest();
          if (one.does === "restart") writers[one.by] = writerOf(store);
          if (one.does !== "delete") continue;
          await store.deleteAll();
          indexed = [];
        }
        await rest();
      },
    );
    await fc.assert(property, { numRuns: runs(50, 1000), seed: chosenSeed() });
  });

  it("do not query a trace again that they have indexed under this hour", async () => {
    const store = new Store();
    const index = writerOf(store);
    await index([traceHour("a", 1)]);
    const queries = store.queries.length;
    await index([traceHour("a", 1)]);
    expect(store.queries).toHaveLength(queries);
    await index([traceHour("a", 2)]);
    expect(store.queries).toHaveLength(queries + 1);
  });
});
