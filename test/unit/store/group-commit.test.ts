import { describe, expect, it } from "vitest";
import { createGroupCommit, type GroupCommit } from "../../../src/store/group-commit.ts";
import { FairSemaphore } from "../../../src/fairness/fair-semaphore.ts";
import { StorageError } from "../../../src/store/storage-error.ts";

function commitTo(
  flush: (items: readonly string[]) => Promise<void>,
  maxPendingBytes = 1000,
): GroupCommit<string> {
  return createGroupCommit({
    name: "test",
    flush,
    sizeOf: (item) => item.length,
    lingerMs: 1,
    maxBatchBytes: 10,
    pending: new FairSemaphore({ capacity: maxPendingBytes }),
  });
}

describe("createGroupCommit", () => {
  it("resolves a write once its items are written", async () => {
    let durable = false;
    const commit = commitTo(async () => {
      await new Promise(setImmediate);
      durable = true;
    });
    await commit.write(["a"]);
    expect(durable).toBe(true);
  });

  it("fails all writers while the store is down, and recovers", async () => {
    let away = true;
    const commit = commitTo(() =>
      away ? Promise.reject(new StorageError("unavailable", "test", undefined, "")) : Promise.resolve(),
    );
    const outcomes = await Promise.allSettled([commit.write(["a"]), commit.write(["b"])]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    away = false;
    await commit.write(["c"]);
  });

  it("rejects at once if too many bytes are pending, but never a single large write", async () => {
    const { promise: written, resolve: release } = Promise.withResolvers<void>();
    const commit = commitTo(() => written, 20);
    const large = commit.write(["x".repeat(50)]);
    await expect(commit.write(["y"])).rejects.toMatchObject({ kind: "overloaded" });
    release();
    await large;
    await commit.drain();
    expect(commit.pendingBytes()).toBe(0);
    await commit.write(["y"]);
  });

  /** Logs its steps; the batch with the first item blocks until `release` is called. */
  function commitBeside(first: string, minPipelinedBytes: number) {
    const log: string[] = [];
    const { promise: written, resolve: release } = Promise.withResolvers<void>();
    const commit = createGroupCommit<string>({
      name: "test",
      prepare: async (items) => void log.push(`prepare ${items.join("")}`),
      minPipelinedBytes,
      flush: async (items) => {
        log.push(`write ${items.join("")}`);
        if (items.includes(first)) await written;
        log.push(`written ${items.join("")}`);
      },
      sizeOf: (item) => item.length,
      lingerMs: 1,
      maxBatchBytes: 10,
      pending: new FairSemaphore({ capacity: 1000 }),
    });
    return { commit, log, release };
  }

  it("prepares a batch concurrently with a write if enough bytes are pending", async () => {
    const { commit, log, release } = commitBeside("a", 3);
    const writes = [commit.write(["a"])];
    while (!log.includes("write a")) await new Promise(setImmediate);
    writes.push(commit.write(["b"]), commit.write(["c"]));
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(log).toEqual(["prepare a", "write a"]);
    writes.push(commit.write(["d"]));
    while (!log.includes("prepare bcd")) await new Promise(setImmediate);
    writes.push(commit.write(["e"]));
    release();
    await Promise.all(writes);
    expect(log.slice(2)).toEqual([
      "prepare bcd",
      "written a",
      "write bcd",
      "written bcd",
      "prepare e",
      "write e",
      "written e",
    ]);
  });

  it("runs exclusive work between two batches although one is lingering", async () => {
    const { commit, log, release } = commitBeside("a", 3);
    const writes = [commit.write(["a"])];
    while (!log.includes("write a")) await new Promise(setImmediate);
    writes.push(commit.write(["b"]));
    const between = commit.runExclusive(async () => void log.push("between"));
    release();
    await Promise.all([...writes, between]);
    expect(log).toEqual([
      "prepare a",
      "write a",
      "written a",
      "between",
      "prepare b",
      "write b",
      "written b",
    ]);
  });
});
