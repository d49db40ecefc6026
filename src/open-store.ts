import { connectServer, openEmbedded } from "./store/connect.ts";
import type { Engine } from "./store/engine.ts";
import { limitTable } from "./store/limits.ts";
import type { OnSwitch } from "./store/cluster/cluster-transport.ts";
import { backupDirOf, type Config } from "./config.ts";

/**
 * Opens the configured store; `onSwitch` is called when another server serves. Throws `StoreOpenError`
 * for a data directory; does not contact a server yet.
 */
export async function openStore(config: Config, onSwitch?: OnSwitch): Promise<Engine> {
  const { MIN_FREE_DISK_BYTES: minFreeBytes } = config;
  const options = {
    limits: limitTable({ seconds: config.QUERY_TIMEOUT_SECONDS, bytes: config.QUERY_MEMORY_BYTES }),
    maxRunning: config.STORE_MAX_CONCURRENT,
    maxWaiting: config.STORE_MAX_WAITING,
    maxWaitMs: config.STORE_MAX_WAIT_MS,
  };
  return config.CLICKHOUSE_URL === undefined
    ? openEmbedded(config.DATA_DIR, { ...options, backupDir: backupDirOf(config), minFreeBytes })
    : connectServer(config.CLICKHOUSE_URL, {
        ...options,
        cluster: config.CLICKHOUSE_CLUSTER,
        insertQuorum: config.CLICKHOUSE_INSERT_QUORUM,
        onSwitch,
      });
}
