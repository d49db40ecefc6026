import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairSemaphore } from "../../../src/fairness/fair-semaphore.ts";
import { runAsTenant, type Tenant } from "../../../src/fairness/tenant.ts";
import { createGroupCommit } from "../../../src/store/group-commit.ts";
import { StorageError } from "../../../src/store/storage-error.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

interface Item {
  readonly of: number;
  readonly at: number;
}

const tenant = fc.record({ entity: fc.constantFrom("p", "q", "r"), key: fc.constantFrom("a", "b") });
const write = fc.record({ by: tenant, items: fc.integer({ min: 1, max: 30 }), turnsBefore: fc.nat(6) });

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createGroupCommit, with many writers", () => {
  it("stores all items of each write in order, of the writes that are accepted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { minLength: 1, maxLength: 20 }),
        fc.nat(5),
        async (writes, rejected) => {
          const stored: Item[] = [];
          const rejecting = (bad: number) => async (items: readonly Item[]) => {
            await turn();
            if (items.some(({ of }) => of === bad)) throw new StorageError("statement", "test", "1", "bad");
          };
          const commit = createGroupCommit<Item>({
            name: "test",
            prepare: rejecting(rejected + 1),
            flush: async (items) => {
              await rejecting(rejected)(items);
              stored.push(...items);
            },
            sizeOf: () => 10,
            lingerMs: 0,
            maxBatchBytes: 200,
            pending: new FairSemaphore({ capacity: 1_000_000 }),
          });
          const outcomes = writes.map(async ({ by, items: count, turnsBefore }, of) => {
            for (let n = 0; n < turnsBefore; n++) await turn();
            const items = Array.from({ length: count }, (_, at) => ({ of, at }));
            const accepted = await runAsTenant(by, () => commit.write(items)).then(
              () => true,
              () => false,
            );
            expect(accepted).toBe(of !== rejected && of !== rejected + 1);
            expect(stored.filter((item) => item.of === of)).toEqual(accepted ? items : []);
          });
          await Promise.all(outcomes);
          await commit.drain();
          expect(commit.pendingBytes()).toBe(0);
        },
      ),
      { seed: chosenSeed(), numRuns: runs(150, 3000) },
    );
  });

  /** The first batch blocks until `release`. */
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
