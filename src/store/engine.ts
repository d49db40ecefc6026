import type { Sql } from "../query/sql.ts";
import type { LimitProfile } from "./limits.ts";

export interface QueryOptions {
  /** Constant name for `log_comment` and metrics. */
  readonly name: string;
  /** Profile of time and memory limits. Default: `interactive`; `maintenance` for commands, `ingest` for inserts. */
  readonly limits?: LimitProfile;
  readonly signal?: AbortSignal;
  /** All tables of a read, whose result is cached until this process writes to one; the reader must not change the result. */
  readonly dependsOn?: readonly string[];
  /** Default for reads and inserts: the distributed tables over all shards. */
  readonly tables?: TableScope;
  /**
   * Table of which a read must have all acknowledged rows, also during a failover: what it does not find would be lost.
   * Replicas that need not all store a row are synchronized first.
   */
  readonly synced?: string;
  /** Called with the rows and bytes a query read. A server reports them with the first byte: incomplete for long responses. */
  readonly onRead?: (stats: ReadStats) => void;
}

/**
 * Tables a statement addresses in a sharded store. `local`: tables of the server that runs it, as for `system` tables and
 * DDL. A number: local tables on that shard. `per_shard`: local tables on every shard in turn; reads concatenate the rows.
 */
export type TableScope = "local" | "per_shard" | number;

export interface ReadStats {
  readonly rows: number;
  readonly bytes: number;
}

/** Current problem of reads and of writes, for operators; `undefined` if there is none. */
export interface StoreHealth {
  readonly reads: string | undefined;
  readonly writes: string | undefined;
}

export type RawFormat = "RowBinary" | "Native" | "JSONEachRow" | "JSONCompactEachRow" | "Null";

/**
 * Storage port to ClickHouse, embedded or remote. Both adapters pass `test/engine/conformance.ts`.
 *
 * Errors: every method rejects with a `StorageError`, whose message contains neither the statement nor its values.
 * Cancellation: an aborted signal rejects at once; the statement may run until it is killed or reaches its limits.
 */
export interface Engine {
  /** Reads all rows of a small result. 64-bit integers become numbers: select `toString` above 2^53. */
  rows<Row>(query: Sql, options: QueryOptions): Promise<Row[]>;
  /** Reads the whole result as bytes in a ClickHouse format. */
  bytes(query: Sql, format: RawFormat, options: QueryOptions): Promise<Buffer>;
  /** Runs DDL, mutations and INSERT … SELECT. */
  command(statement: Sql, options: QueryOptions): Promise<void>;
  /** Appends rows; resolves when they are durable. Missing columns take their default. */
  insert(table: string, rows: readonly object[], options: QueryOptions): Promise<void>;
  /**
   * Counts the writes to a table begun by this process, if it is the store's only writer: a cached read is valid while the
   * count is unchanged. `undefined` during a write, and if other processes may write.
   */
  writeCountOf(table: string): number | undefined;
  /** Reads the ClickHouse version, like "26.7.2.1". */
  version(): Promise<string>;
  /** Checks whether reads and writes can succeed now. Never rejects. */
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}
