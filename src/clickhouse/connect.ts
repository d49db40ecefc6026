import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { createAdmission } from "./admission.ts";
import { createEngine } from "./create-engine.ts";
import type { Engine } from "./engine.ts";
import type { LimitTable } from "./limits.ts";
import { createServerTransport } from "./server-transport.ts";
import { toStoreOpenError } from "./store-open-error.ts";

export interface ServerOptions {
  /** `http(s)://user:password@host:8123/database` */
  readonly url: string;
  readonly requestTimeoutMs: number;
  readonly limits?: LimitTable;
}

const MAX_WAITING = 1000;
const MAX_WAIT_MS = 10_000;

/** ClickHouse as a server or cluster, over HTTP. */
export function connectServer({ url, requestTimeoutMs, limits }: ServerOptions): Engine {
  const maxRunning = 32;
  const client = createClient({
    url,
    // the transport ends a request first; this is for a socket that is stuck
    request_timeout: requestTimeoutMs + 5000,
    max_open_connections: maxRunning,
    keep_alive: { enabled: true },
    // it would write statements' errors, and so their values, to the console
    log: { level: ClickHouseLogLevel.OFF },
  });
  const admission = createAdmission({
    maxRunning,
    maxHeavy: maxRunning - 8,
    maxWaiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });
  return createEngine(createServerTransport(client, { admission, requestTimeoutMs }), limits);
}

/** ClickHouse in this process, its data in `dataDir`. One engine per process. Errors: `StoreOpenError`. */
export async function openEmbedded(dataDir: string, limits?: LimitTable): Promise<Engine> {
  // Statements run on libuv's threads, which files, DNS and compression need too. Read at the first use of a thread.
  process.env["UV_THREADPOOL_SIZE"] ??= "16";
  const path = resolve(dataDir);
  const admission = createAdmission({
    maxRunning: 8,
    maxHeavy: 4,
    maxWaiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });
  const { createEmbeddedTransport } = await import("./embedded-transport.ts");
  try {
    mkdirSync(path, { recursive: true });
    return createEngine(createEmbeddedTransport(path, admission), limits);
  } catch (error) {
    throw toStoreOpenError(error, path);
  }
}
