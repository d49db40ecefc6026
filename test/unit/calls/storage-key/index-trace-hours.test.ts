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
import type { Fate } from "../../../helpers/faulty-engine.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";

const project_id = "acme/notes" as Project;
const place = (trace_id: string, hour: number): TraceHour => ({ project_id, trace_id, hour });

/** A store of notes whose statements take effect at some moment while they run. */
class Notes {
  readonly rows: Record<string, TraceHour[]> = { trace_hours: [], multi_hour_traces: [] };
  readonly asked: string[] = [];
  readonly #counts = new WriteCounters();
  readonly #pause: () => Promise<void>;
  readonly #fates: Fate[];

  constructor(pause: () => Promise<void> = async () => undefined, fates: readonly Fate[] = []) {
    this.#pause = pause;
    this.#fates = [...fates];
  }

  /** What is used of an engine. */
  get engine(): Engine {
    const used: Partial<Engine> = {
      writeCountOf: (table) => this.#counts.of(table),
      insert: (table, rows) => this.#insert(table, rows as readonly TraceHour[]),
      rows: async <Row>(_: unknown, { name }: QueryOptions) => (await this.#look(name)) as Row[],
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
    // it waits for its turn before it begins
    await this.#pause();
    await this.#counts.during(table, async () => {
      const fate = this.#fates.shift() ?? "done";
      await this.#pause();
      if (fate !== "refused") this.rows[table]!.push(...rows);
      await this.#pause();
      if (fate !== "done") throw new Error(fate);
    });
  }

  async #look(name: string): Promise<unknown> {
    this.asked.push(name);
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

const writerOf = (store: Notes): IndexTraceHours => createTraceHourIndex(store.engine);

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("note" as const),
      by: fc.nat(1),
      places: fc.array(
        fc
          .tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(2))
          .map(([trace, hour]) => place(trace, hour)),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("rest" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restart" as const), by: fc.nat(1) }) },
);
const fates = fc.array(fc.constantFrom<Fate>("done", "done", "done", "done", "refused", "untold"), {
  size: "max",
  maxLength: 20,
});

describe("two writers that note traces at the same time, by statements that fail now and then", () => {
  it("note all hours of each trace that has several, and are told them", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20, size: "max" }),
      fates,
      fc.scheduler(),
      async (steps, fate, scheduler) => {
        const store = new Notes(() => scheduler.schedule(Promise.resolve()), fate);
        const writers = [0, 1].map(() => writerOf(store));
        // of notes that have succeeded since the last deletion
        let noted: TraceHour[] = [];
        let running: Promise<void>[] = [];
        let begun = 0;
        const rest = async (): Promise<void> => {
          await scheduler.waitIdle();
          await Promise.all(running);
          running = [];
          for (const trace of new Set(noted.map((one) => one.trace_id))) {
            const hours = new Set(noted.filter((one) => one.trace_id === trace).map((one) => one.hour));
            const [stored, multiHour] = ["trace_hours", "multi_hour_traces"].map((table) =>
              store.hoursOf(table, trace),
            );
            expect(stored).toEqual(expect.arrayContaining([...hours]));
            if (hours.size > 1) expect(multiHour).toEqual(expect.arrayContaining([...hours]));
          }
        };
        const note = async (by: number, places: readonly TraceHour[]): Promise<void> => {
          const turn = ++begun;
          const isFirst = running.length === 0;
          const hours = await writers[by]!(places).catch(() => undefined);
          if (hours === undefined) return;
          noted.push(...places);
          const isAlone = isFirst && begun === turn;
          for (const { trace_id, hour } of places) {
            const told = [...hours].find(([key]) => key.endsWith(trace_id))![1];
            expect(told).toContain(hour);
            if (isAlone)
              expect(told.toSorted((a, b) => a - b)).toEqual(store.hoursOf("trace_hours", trace_id));
          }
        };
        for (const one of steps) {
          if (one.does === "note") {
            running.push(note(one.by, one.places));
            if (scheduler.count() > 0) await scheduler.waitOne();
            continue;
          }
          await rest();
          if (one.does === "restart") writers[one.by] = writerOf(store);
          if (one.does !== "delete") continue;
          await store.deleteAll();
          noted = [];
        }
        await rest();
      },
    );
    await fc.assert(property, { numRuns: runs(50, 1000), seed: chosenSeed() });
  });

  it("are not asked again about a trace that they have noted under this hour", async () => {
    const store = new Notes();
    const note = writerOf(store);
    await note([place("a", 1)]);
    const asked = store.asked.length;
    await note([place("a", 1)]);
    expect(store.asked).toHaveLength(asked);
    await note([place("a", 2)]);
    expect(store.asked).toHaveLength(asked + 1);
  });
});
