import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ReplicaState } from "../../../../../src/store/cluster/replicas/replica-health.ts";
import { createReplicaSet } from "../../../../../src/store/cluster/replicas/replica-set.ts";
import type { ReplicaWatch } from "../../../../../src/store/cluster/replicas/replica-watch.ts";
import type { Replica } from "../../../../../src/store/cluster/replicas/replica.ts";
import { NOT_CURRENT, StorageError } from "../../../../../src/store/storage-error.ts";
import type { Transport } from "../../../../../src/store/transport/transport.ts";
import { sql } from "../../../../../src/query/sql.ts";
import { wellReplica } from "../../../../helpers/replica-state.ts";

interface Server {
  readonly name: string;
  /** Tries until it catches up; `undefined`: never. */
  readonly catchesUpAfter?: number;
  readonly hasKeeper?: boolean;
  readonly awayMs?: number;
  readonly tables?: readonly string[];
  /** Its blocks; `undefined`: it does not respond. */
  readonly blocks?: readonly number[];
}

/** Tables of SYSTEM SYNC REPLICA. */
let asked: string[];

function replicaOf({
  name,
  catchesUpAfter,
  hasKeeper = true,
  awayMs = 60_000,
  tables = ["calls"],
  blocks,
}: Server): Replica {
  const state: ReplicaState = {
    ...wellReplica,
    name,
    replicatedTables: tables,
    ...(hasKeeper ? {} : { keeper: undefined, keeperAwaySinceMs: performance.now() - awayMs }),
  };
  const read: Transport["read"] = async () => ({ bytes: Buffer.from(name), readRows: 0, readBytes: 0 });
  const transport = { read } as unknown as Transport;
  return {
    transport,
    distributedTransport: () => transport,
    state: () => state,
    probe: async () => undefined,
    run: (_access, options, task) => task(options),
    abortStatements: () => undefined,
    async catchUp(names, statement, triesBefore) {
      asked.push(...names);
      if (catchesUpAfter === undefined || triesBefore < catchesUpAfter || !hasKeeper)
        throw new StorageError("unavailable", statement, NOT_CURRENT, "behind");
    },
    async storedBlocks() {
      if (blocks === undefined) throw new StorageError("unavailable", "test", undefined, "no answer");
      return blocks.map((block) => ({ partition: "calls/202601", first: block, last: block }));
    },
    isCurrent: () => true,
    close: async () => undefined,
  };
}

function setOf(servers: readonly Server[], insertQuorum = "auto"): Transport {
  asked = [];
  const replicas = servers.map(replicaOf);
  const watch = {
    begun: Promise.resolve(),
    shards: () => [1],
    usable: () => replicas,
    view: () => ({ all: replicas.map((one) => one.state()), isStoreKnown: true, insertQuorum }),
  } as unknown as ReplicaWatch;
  return createReplicaSet(watch);
}

const readFrom = async (set: Transport, requireCurrent = false): Promise<string> => {
  const options = {
    name: "test",
    profile: "interactive",
    settings: {},
    signal: undefined,
    requireCurrent,
  } as const;
  return String((await set.read(sql`SELECT * FROM calls`, options)).bytes);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => vi.useRealTimers());

describe("reads with a quorum below all replicas", () => {
  it("use the first replica, and another one if it lags", async () => {
    expect(await readFrom(setOf([{ name: "a", catchesUpAfter: 0 }, { name: "b" }, { name: "c" }]))).toBe("a");
    expect(await readFrom(setOf([{ name: "a" }, { name: "b" }, { name: "c", catchesUpAfter: 0 }]))).toBe("c");
  });

  it("wait longer if all replicas lag, and never use one that lacks rows", async () => {
    const slow = readFrom(setOf([{ name: "a" }, { name: "b", catchesUpAfter: 2 }, { name: "c" }]));
    await vi.advanceTimersByTimeAsync(3000);
    expect(await slow).toBe("b");
    const never = setOf([{ name: "a" }, { name: "b" }, { name: "c" }]);
    const rejected = expect(readFrom(never)).rejects.toMatchObject({
      kind: "unavailable",
      engineCode: NOT_CURRENT,
    });
    await vi.advanceTimersByTimeAsync(11_000);
    await rejected;
  });

  it("use a replica with the blocks of all others if none can catch up", async () => {
    const behind = { name: "b", blocks: [1, 2] };
    const whole = { name: "c", blocks: [1, 2, 3] };
    expect(await readFrom(setOf([{ name: "hangs" }, behind, whole]))).toBe("c");
    expect(await readFrom(setOf([{ name: "hangs" }, behind, whole]), true)).toBe("c");
    const withoutKeeper = [behind, whole].map((server) => ({ ...server, hasKeeper: false }));
    expect(await readFrom(setOf(withoutKeeper), true)).toBe("c");
  });

  it.each([
    ["one alone", [{ name: "b", blocks: [1, 2] }]],
    [
      "two that each lack something",
      [
        { name: "b", blocks: [1, 2] },
        { name: "c", blocks: [1, 3] },
      ],
    ],
  ])("do not assume completeness: %s", async (_, servers) => {
    const rejected = expect(readFrom(setOf([{ name: "hangs" }, ...servers]))).rejects.toMatchObject({
      engineCode: NOT_CURRENT,
    });
    await vi.advanceTimersByTimeAsync(12_000);
    await rejected;
  });

  it("use any replica if completeness is unknown, unless requireCurrent is set", async () => {
    const away = setOf([
      { name: "a", hasKeeper: false },
      { name: "b", hasKeeper: false },
    ]);
    expect(await readFrom(away)).toBe("a");
    let read: string | undefined;
    const justAway = setOf([{ name: "a", hasKeeper: false, awayMs: 1000 }]);
    void readFrom(justAway).then((name) => (read = name));
    await vi.advanceTimersByTimeAsync(800);
    expect(read).toBeUndefined();
    await vi.advanceTimersByTimeAsync(400);
    expect(read).toBe("a");
    await expect(readFrom(away, true)).rejects.toMatchObject({ engineCode: NOT_CURRENT });
    const withoutQuorum = readFrom(setOf([{ name: "a" }, { name: "b" }, { name: "c" }], "1"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await withoutQuorum).toBe("a");
  });

  it("catch up on tables that only other replicas list", async () => {
    const started = { name: "a", catchesUpAfter: 0, tables: [] };
    expect(await readFrom(setOf([started, { name: "b" }, { name: "c" }]))).toBe("a");
    expect(asked).toEqual(["calls"]);
  });
});
