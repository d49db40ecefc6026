import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WriteCounters } from "../../../src/store/write-counters.ts";
import { TableCache } from "../../../src/store/table-cache.ts";

const KEYS = ["a", "b", "c"];
const key = fc.constantFrom(...KEYS);
const fate = fc.constantFrom("done", "refused", "untold");
const step = fc.oneof(
  fc.record({ does: fc.constant("read" as const), by: fc.nat(1), key }),
  fc.record({ does: fc.constant("insert" as const), by: fc.nat(1), key, value: fc.nat(3), fate }),
  fc.record({ does: fc.constant("delete" as const), key, fate }),
  fc.record({ does: fc.constant("other" as const) }),
  // until all that runs has ended
  fc.record({ does: fc.constant("rest" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Table of a set of numbers per key, whose statements take effect at some moment while they run. */
class Table {
  readonly counts = new WriteCounters();
  readonly #rows = new Map<string, ReadonlySet<number>>();
  readonly #pause: () => Promise<void>;

  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  rows(of: string): readonly number[] {
    return [...(this.#rows.get(of) ?? [])].toSorted((a, b) => a - b);
  }

  async read(of: string): Promise<readonly number[]> {
    await this.#pause();
    const found = this.rows(of);
    await this.#pause();
    return found;
  }

  change(table: string | undefined, how: string, effect: () => void): Promise<void> {
    return this.counts.during(table, async () => {
      await this.#pause();
      if (how !== "refused") effect();
      await this.#pause();
      if (how !== "done") throw new Error(how);
    });
  }

  add(to: string, value: number, how: string): Promise<void> {
    return this.change("t", how, () => this.#rows.set(to, new Set([...this.rows(to), value])));
  }

  delete(of: string, how: string): Promise<void> {
    return this.change(undefined, how, () => this.#rows.delete(of));
  }
}

async function run(
  table: Table,
  memories: readonly TableCache<readonly number[]>[],
  one: Step,
): Promise<void> {
  if (one.does === "rest") return;
  if (one.does === "other") return table.change("another", "done", () => undefined);
  if (one.does === "delete") return table.delete(one.key, one.fate);
  const memory = memories[one.by]!;
  const began = memory.begin();
  if (one.does === "read") {
    await memory.read(one.key, () => table.read(one.key));
    return;
  }
  const [found] = await Promise.all([table.read(one.key), table.add(one.key, one.value, one.fate)]);
  const all = [...new Set([...found, one.value])].toSorted((a, b) => a - b);
  memory.put(began, 1, [[one.key, all]]);
}

describe("TableCache", () => {
  it("never returns stale values under concurrent and failing writes", async () => {
    let remembered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25, size: "max" }),
        fc.scheduler(),
        async (steps, scheduler) => {
          const table = new Table(() => scheduler.schedule(Promise.resolve()));
          const engine = { writeCountOf: (name: string) => table.counts.of(name) };
          const memories = [0, 1].map(() => new TableCache<readonly number[]>(engine, "t", 10));
          const running: Promise<void>[] = [];
          for (const one of steps) {
            running.push(run(table, memories, one).catch(() => undefined));
            if (one.does === "rest") await scheduler.waitIdle();
            else if (scheduler.count() > 0) await scheduler.waitOne();
            for (const memory of memories)
              for (const of of KEYS) {
                const said = memory.get(of);
                if (said === undefined) continue;
                remembered++;
                expect(said).toEqual(table.rows(of));
              }
          }
          await scheduler.waitIdle();
          await Promise.all(running);
          for (const memory of memories)
            for (const of of KEYS) expect([undefined, table.rows(of)]).toContainEqual(memory.get(of));
        },
      ),
      { numRuns: 300 },
    );
    expect(remembered).toBeGreaterThan(0);
  });

  it("evicts the least recently used values above its maximum weight", () => {
    const engine = { writeCountOf: () => 0 };
    const weightOf = (value: string, key: string): number => value.length + key.length;
    const memory = new TableCache<string>(engine, "t", 10, weightOf);
    const learn = (key: string, value: string): void => memory.put(0, 0, [[key, value]]);
    learn("a", "1234");
    learn("b", "1234");
    learn("c", "1");
    learn("too much", "12345678");
    expect(["a", "b", "c", "too much"].map((key) => memory.get(key))).toEqual([
      undefined,
      "1234",
      "1",
      undefined,
    ]);
  });
});
