import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairSemaphore } from "../../../src/fairness/fair-semaphore.ts";
import { runAsTenant, type Tenant } from "../../../src/fairness/tenant.ts";
import { createGroupCommit } from "../../../src/store/group-commit.ts";
import { StorageError } from "../../../src/store/storage-error.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const MAX_PARTITIONS = 3;

interface Item {
  readonly of: number;
  readonly at: number;
  readonly goesTo: number | undefined;
  /** Its partition, once a `prepare` step has resolved it. */
  partition: number | undefined;
}

const tenant = fc.record({ entity: fc.constantFrom("p", "q", "r"), key: fc.constantFrom("a", "b") });
const write = fc.record({
  by: tenant,
  /** Partitions of the items; `isKnown`: before `prepare`. */
  items: fc.array(
    fc.record({ partition: fc.option(fc.nat(12), { nil: undefined }), isKnown: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 30,
    },
  ),
  turnsBefore: fc.nat(6),
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createGroupCommit, with many writers", () => {
  it("stores all items, few partitions at a time, in order within a partition", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { minLength: 1, maxLength: 20 }),
        fc.nat(5),
        async (writes, rejected) => {
          const stored: Item[] = [];
          const commit = createGroupCommit<Item>({
            name: "test",
            prepare: [
              async (items) => {
                await turn();
                // one write can not be readied
                if (items.some(({ of }) => of === rejected + 1))
                  throw new StorageError("statement", "test", "1", "bad");
                for (const item of items) item.partition = item.goesTo;
              },
              turn,
            ],
            partitionOf: ({ partition }) => partition,
            maxPartitions: MAX_PARTITIONS,
            flush: async (items) => {
              const partitions = new Set(
                items.map(({ partition }) => partition).filter((partition) => partition !== undefined),
              );
              expect(partitions.size).toBeLessThanOrEqual(MAX_PARTITIONS);
              await turn();
              // one write fails, at its second piece
              if (items.some(({ of, at }) => of === rejected && at > 5)) {
                throw new StorageError("statement", "test", "1", "bad");
              }
              stored.push(...items);
            },
            sizeOf: () => 10,
            lingerMs: 0,
            maxBatchBytes: 200,
            pending: new FairSemaphore({ capacity: 1_000_000 }),
          });
          const outcomes = writes.map(async ({ by, items: written, turnsBefore }, of) => {
            for (let n = 0; n < turnsBefore; n++) await turn();
            const items = written.map(({ partition, isKnown }, at) => ({
              of,
              at,
              goesTo: partition,
              partition: isKnown ? partition : undefined,
            }));
            const all = await runAsTenant(by, () => commit.write(items)).then(
              () => true,
              () => false,
            );
            const own = stored.filter((item) => item.of === of);
            if (of === rejected + 1) expect(all).toBe(false);
            else if (of !== rejected || items.length <= 6) expect(all).toBe(true);
            if (all)
              expect(own.map(({ at }) => at).toSorted((a, b) => a - b)).toEqual(items.map(({ at }) => at));
          });
          await Promise.all(outcomes);
          await commit.drain();
          expect(commit.pendingBytes()).toBe(0);
          expect(stored.filter(({ of }) => of === rejected + 1)).toEqual([]);
          for (const ofWrite of Map.groupBy(stored, ({ of }) => of).values()) {
            for (const ofPlace of Map.groupBy(ofWrite, ({ partition }) => partition).values()) {
              const order = ofPlace.map(({ at }) => at);
              expect(order).toEqual(order.toSorted((a, b) => a - b));
            }
          }
        },
      ),
      { seed: chosenSeed(), numRuns: runs(150, 3000) },
    );
  });

  /** Writes of one partition each; the first blocks until `release`. */
  function held() {
    const batches: string[][] = [];
    const first = Promise.withResolvers<void>();
    const commit = createGroupCommit<string>({
      name: "test",
      flush: async (items) => {
        batches.push([...items]);
        if (batches.length === 1) await first.promise;
      },
      sizeOf: (item) => item.length,
      lingerMs: 0,
      maxBatchBytes: 4,
      pending: new FairSemaphore({ capacity: 1000 }),
    });
    const by = (of: Tenant, item: string): Promise<void> => runAsTenant(of, () => commit.write([item]));
    return { commit, batches, by, release: () => first.resolve() };
  }

  it("alternates between entities; within one, first come is first served", async () => {
    const { batches, by, release } = held();
    const writes = [by({ entity: "p", key: "a" }, "p0")];
    while (batches.length === 0) await turn();
    for (let n = 1; n < 5; n++) writes.push(by({ entity: "p", key: "a" }, `p${n}`));
    writes.push(by({ entity: "p", key: "b" }, "b1"), by({ entity: "q", key: "c" }, "q1"));
    release();
    await Promise.all(writes);
    expect(batches).toEqual([["p0"], ["p1", "q1"], ["p2", "p3"], ["p4", "b1"]]);
  });
});
