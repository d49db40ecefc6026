import type { ReplicaState } from "../../src/store/cluster/replicas/replica-health.ts";

/** One of three replicas, as it should be. */
export const wellReplica: ReplicaState = {
  name: "one:8123",
  answers: "yes",
  hasStore: true,
  shard: 1,
  shards: 1,
  isArranged: true,
  configured: 3,
  replicatedTables: ["calls"],
  readonlyTables: 0,
  keeper: { total: 3, active: 3 },
  keeperAwaySinceMs: undefined,
};
