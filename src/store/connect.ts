import { statfsSync } from "node:fs";
import { resolve } from "node:path";
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { createAdmission, type Admission } from "./transport/admission.ts";
import { KEY_SHARE } from "../fairness/fair-semaphore.ts";
import { createEngine, type EngineOptions } from "./transport/create-engine.ts";
import { locked, ownerOf, prepareDataDir } from "./transport/data-dir.ts";
import { largestPart, reserveOf } from "./disk-space.ts";
import type { Engine } from "./engine.ts";
import { defaultLimits } from "./limits.ts";
import { createClusterTransport, type OnSwitch } from "./cluster/cluster-transport.ts";
import { distributedDatabase } from "./cluster/shards/shards.ts";
import { StoreServer } from "./cluster/store-server.ts";
import { createServerTransport } from "./transport/server-transport.ts";
import { StoreOpenError } from "./store-open-error.ts";
import type { Transport } from "./transport/transport.ts";

export interface StoreOptions extends EngineOptions {
  /** Concurrent statements. Default: 12 embedded, 48 with a server. */
  readonly maxRunning?: number | undefined;
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
  /** Added to a statement's `max_execution_time` before the client gives up, in milliseconds. */
  readonly graceMs?: number;
}

interface EmbeddedOptions extends StoreOptions {
  /** The only directory outside `dataDir` that BACKUP may write to and RESTORE may read from. */
  readonly backupDir?: string | undefined;
  /** Free-space reserve (`reserveOf`); limits the size of merged parts, so that mutations fit into it. */
  readonly minFreeBytes?: number | undefined;
}

export interface ServerOptions extends StoreOptions {
  /** Cluster name in the servers' configuration. */
  readonly cluster?: string | undefined;
  /** Replicas that must store a row before it is acknowledged: a number, or `auto` (default) for a majority. */
  readonly insertQuorum?: string | undefined;
  readonly onSwitch?: OnSwitch | undefined;
}

/**
 * Connects to ClickHouse over HTTP: `http(s)://user:password@host:8123/database`. Of several servers, or in a cluster, the
 * first one that can serve does.
 */
export function connectServer(urls: string | readonly string[], options: ServerOptions = {}): Engine {
  const {
    limits = defaultLimits,
    maxRunning = 48,
    graceMs = 10_000,
    cluster,
    insertQuorum = "auto",
    onSwitch,
  } = options;
  const longestMs = Math.max(...Object.values(limits).map((limit) => limit.max_execution_time)) * 1000;
  const admission = admissionOf(options, maxRunning);
  const transportTo = (url: string, connections: number, gate: Admission): Transport => {
    const client = clientOf({
      url,
      // for a stuck socket: the transport ends a request earlier
      request_timeout: longestMs + 60_000,
      max_open_connections: connections,
      keep_alive: { enabled: true },
      // the client would log errors with statement values
      log: { level: ClickHouseLogLevel.OFF },
    });
    return createServerTransport(client, { admission: gate, graceMs });
  };
  const all = typeof urls === "string" ? [urls] : urls;
  if (all.length === 1 && cluster === undefined)
    return createEngine(transportTo(all[0]!, maxRunning, admission), { limits });
  const servers = all.map(
    (url) =>
      new StoreServer({
        name: new URL(url).host,
        local: transportTo(url, maxRunning, admission),
        distributed: (shards) => transportTo(urlOfShards(url, shards), maxRunning, admission),
        checks: transportTo(url, CHECK_CONNECTIONS, ownAdmission(CHECK_CONNECTIONS)),
        cluster,
        insertQuorum,
      }),
  );
  return createEngine(createClusterTransport(servers, onSwitch), { limits });
}

/** Connections per server to catch up: a statement per table. */
const CHECK_CONNECTIONS = 64;

/** Errors: `StoreOpenError`, without the client's own message, which has values of the URL. */
function clientOf(options: Parameters<typeof createClient>[0]): ReturnType<typeof createClient> {
  try {
    return createClient(options);
  } catch (error) {
    throw new StoreOpenError(
      "other",
      "CLICKHOUSE_URL has parameters that ClickHouse's client rejects.",
      error,
    );
  }
}

function urlOfShards(url: string, shards: number): string {
  const local = new URL(url);
  const database = decodeURIComponent(local.pathname.slice(1)) || "default";
  local.pathname = `/${encodeURIComponent(distributedDatabase(database, shards))}`;
  return local.href;
}

/** Opens embedded ClickHouse with its data in `dataDir`; one engine per process. Throws `StoreOpenError`. */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Engine> {
  const { maxRunning = 12, backupDir } = options;
  // statements share libuv's threads with files, DNS and compression; libuv reads this at the first use of a thread
  process.env["UV_THREADPOOL_SIZE"] ??= String(maxRunning + 8);
  const path = resolve(dataDir);
  // These files contain users' prompts.
  process.umask(0o077);
  try {
    const { createEmbeddedTransport } = await import("./transport/embedded-transport.ts");
    prepareDataDir(path);
    const { blocks, bsize } = statfsSync(path);
    const maxPartBytes = largestPart(reserveOf(blocks * bsize, options.minFreeBytes));
    const settings = {
      "backups.allowed_path": backupDir,
      // the engine reads `merge_tree.*` only if `merge_tree` is set
      merge_tree: "1",
      "merge_tree.max_bytes_to_merge_at_max_space_in_pool": maxPartBytes || undefined,
    };
    const admission = admissionOf(options, maxRunning);
    return createEngine(createEmbeddedTransport(path, { admission, settings }), options);
  } catch (error) {
    throw toStoreOpenError(error, path);
  }
}

/** Explains why `path` could not be opened. Reads the lock file, because the engine reports errors only on stderr. */
function toStoreOpenError(error: unknown, path: string): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  if (isMissing(error)) {
    const text =
      "The embedded engine (chdb) is not installed or does not support this platform. Set CLICKHOUSE_URL.";
    return new StoreOpenError("missing", text, error);
  }
  const owner = ownerOf(path);
  if (owner !== undefined) return locked(path, owner, error);
  return new StoreOpenError("other", `DATA_DIR ${path} cannot be opened: ${String(error)}`, error);
}

/** True if the chdb package or its build for this platform is missing. */
function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || code === "CHDB_PLATFORM";
}

/** Creates an admission in which the service alone may use all `maxRunning` permits. */
function ownAdmission(maxRunning: number): Admission {
  return admissionOf({}, Math.ceil(maxRunning / KEY_SHARE));
}

/** Reserves a quarter of the permits, at least one, for short statements. */
function admissionOf({ maxWaiting = 1000, maxWaitMs = 10_000 }: StoreOptions, maxRunning: number): Admission {
  const maxHeavy = Math.max(1, Math.floor(maxRunning * 0.75));
  return createAdmission({ maxRunning, maxHeavy, maxWaiting, maxWaitMs });
}
