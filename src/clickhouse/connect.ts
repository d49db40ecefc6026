import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { createClient } from "@clickhouse/client";
import { createClientEngine } from "./client-engine.ts";
import type { Engine } from "./engine.ts";
import type { LimitTable } from "./limits.ts";

export interface ServerOptions {
  /** `http(s)://user:password@host:8123/database` */
  readonly url: string;
  readonly requestTimeoutMs: number;
  readonly limits?: LimitTable;
}

/** A query of a thousand nodes is a statement of some hundred kilobytes, and it can not raise this bound itself. */
const MAX_STATEMENT_BYTES = 4 * 1024 * 1024;

/** ClickHouse as a server or cluster, over HTTP. */
export function connectServer(options: ServerOptions): Engine {
  const client = createClient({
    url: options.url,
    request_timeout: options.requestTimeoutMs,
    max_open_connections: 32,
    keep_alive: { enabled: true },
    clickhouse_settings: { max_query_size: String(MAX_STATEMENT_BYTES) },
  });
  return createClientEngine(client, options.limits);
}

/**
 * ClickHouse in this process, its data in `dataDir`. One engine and one data directory per process; a second
 * process on the same directory is refused by the engine.
 */
export async function openEmbedded(dataDir: string, limits?: LimitTable): Promise<Engine> {
  const path = resolve(dataDir);
  mkdirSync(path, { recursive: true });
  const { createChdbConnection } = await import("chdb/connection");
  // chdb carries its own copy of the client's types; the contract is the same one.
  const connection = createChdbConnection({ path }) as unknown as NonNullable<
    Parameters<typeof createClient>[0]
  >["connection"];
  const client = createClient({ connection } as Parameters<typeof createClient>[0]);
  await client.command({ query: `SET max_query_size = ${MAX_STATEMENT_BYTES}` });
  return createClientEngine(client, limits);
}
