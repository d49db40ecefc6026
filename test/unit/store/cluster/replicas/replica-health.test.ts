import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hasAllAcknowledged,
  quorumOf,
  readProblem,
  writeProblem,
  type ReplicaState,
  type ClusterView,
} from "../../../../../src/store/cluster/replicas/replica-health.ts";
import { wellReplica as well } from "../../../../helpers/replica-state.ts";

const viewOf = (all: readonly ReplicaState[], more: Partial<ClusterView> = {}): ClusterView => ({
  all,
  isStoreKnown: true,
  insertQuorum: "auto",
  ...more,
});

describe("the quorum of a write", () => {
  it("auto is a majority of the replicas", () => {
    for (const [replicas, needed] of [
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 3],
      [5, 3],
    ] as const) {
      const state = { ...well, configured: replicas, keeper: { total: replicas, active: replicas } };
      expect(quorumOf(state, viewOf([state]))).toEqual({ needed, total: replicas, alive: replicas });
    }
  });
  it("counts replicas in the cluster definition that Keeper does not know: an empty twin accepts no writes", () => {
    const twin = { ...well, configured: 2, keeper: { total: 1, active: 1 } };
    expect(writeProblem(twin, viewOf([twin]))).toBe("1 of 2 replicas are available, and a write needs 2");
  });
  it("detects a lost replica of its shard before Keeper does", () => {
    const pair = { ...well, configured: 2, keeper: { total: 2, active: 2 } };
    const dead: ReplicaState = { ...pair, answers: "no" };
    expect(quorumOf(pair, viewOf([pair, dead])).alive).toBe(1);
    expect(quorumOf(pair, viewOf([pair, { ...dead, shard: 2 }])).alive).toBe(2);
    expect(quorumOf(pair, viewOf([pair, { ...dead, shard: undefined }])).alive).toBe(2);
  });
  it("is never met by a minority", () => {
    const state = fc.record({
      name: fc.constant("x"),
      answers: fc.constantFrom("yes" as const, "suspect" as const, "no" as const),
      hasStore: fc.boolean(),
      shard: fc.constantFrom(undefined, 1, 2),
      shards: fc.constantFrom(1, 2, 3),
      isArranged: fc.boolean(),
      configured: fc.integer({ min: 1, max: 6 }),
      replicatedTables: fc.constantFrom([], ["calls"]),
      readonlyTables: fc.integer({ min: 0, max: 2 }),
      keeperAwaySinceMs: fc.constant(undefined),
      keeper: fc.option(fc.record({ total: fc.nat(6), active: fc.nat(6) }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 5 }), fc.boolean(), (all, isStoreKnown) => {
        const view = viewOf(all, { isStoreKnown });
        for (const one of all) {
          const { needed, total, alive } = quorumOf(one, view);
          expect(needed * 2).toBeGreaterThan(total);
          const isReplicated = one.hasStore && one.replicatedTables.length > 0;
          if (isReplicated && writeProblem(one, view) === undefined) {
            expect(alive).toBeGreaterThanOrEqual(needed);
            expect(one.keeper).toBeDefined();
            if (one.shards > 1) expect(needed).toBe(total);
          }
          if (readProblem(one, view) !== undefined) expect(writeProblem(one, view)).toBeDefined();
        }
      }),
      { seed: 20 },
    );
  });
});

describe("a server", () => {
  it("that lost its tables is not read once the store is known", () => {
    const empty = { ...well, hasStore: false, replicatedTables: [] };
    expect(readProblem(empty, viewOf([empty, well]))).toContain("has lost its tables");
    expect(readProblem(empty, viewOf([empty], { isStoreKnown: false }))).toBeUndefined();
  });
  it("without Keeper serves reads and no writes", () => {
    const alone = { ...well, keeper: undefined };
    expect([readProblem(alone, viewOf([alone])), writeProblem(alone, viewOf([alone]))]).toEqual([
      undefined,
      "ClickHouse Keeper does not respond",
    ]);
  });
  it("without replication accepts writes while it responds", () => {
    const single = { ...well, replicatedTables: [], keeper: undefined };
    expect(writeProblem(single, viewOf([single]))).toBeUndefined();
    expect(writeProblem({ ...single, answers: "no" }, viewOf([single]))).toBe("its servers do not answer");
  });
  it("has all acknowledged rows only if the quorum is every replica", () => {
    expect(hasAllAcknowledged(well, viewOf([well, well, well]))).toBe(false);
    expect(hasAllAcknowledged(well, viewOf([well], { insertQuorum: "3" }))).toBe(true);
    const bare = { ...well, replicatedTables: [] };
    expect(hasAllAcknowledged(bare, viewOf([bare]))).toBe(true);
    // it was just started, and has not found its tables yet
    expect(hasAllAcknowledged(bare, viewOf([bare, well, well]))).toBe(false);
  });
});
