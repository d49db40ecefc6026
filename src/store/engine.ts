import type { Sql } from "../query/sql.ts";
import type { LimitProfile } from "./limits.ts";

export interface QueryOptions {
  /** A fixed name of ours; it goes to the store's `log_comment` and to the metrics. */
  readonly name: string;
  /** Which time and memory bounds hold for this statement. Default: `interactive`. */
  readonly limits?: LimitProfile;
  readonly signal?: AbortSignal;
  /**
   * Rejects (`isNotCurrent`) rather than reads a replica that may lack what another has acknowledged. Without it such a replica is read
   * when there is no other, because most answers are better late than not at all. A command that must be current copies rows.
   */
  readonly requireCurrent?: boolean;
  /** Default: the tables of all shards together, for what is read and inserted. */
  readonly tables?: TableScope;
  /** Called with the rows that a query read. A server reports them with the first byte, so incompletely for long responses. */
  readonly onRead?: (stats: ReadStats) => void;
}

/**
 * Which tables a statement names, where the store has several shards. `own`: those of the one server that runs it, as for
 * `system` tables and DDL. A number: those of a server of that shard. `each`: the same on every shard, one after the
 * other; of what is read, the rows of all of them.
 */
export type TableScope = "local" | "per_shard" | number;

export interface ReadStats {
  readonly rows: number;
  readonly bytes: number;
}

/** What does not work now, for operators; undefined: everything works. */
export interface StoreHealth {
  readonly reads: string | undefined;
  readonly writes: string | undefined;
}

export type RawFormat = "RowBinary" | "Native" | "JSONEachRow" | "JSONCompactEachRow" | "Null";

/**
 * The storage port: ClickHouse, embedded or remote. Both adapters pass `test/engine/conformance.ts`.
 *
 * Errors: every method rejects with a `StorageError`, whose kind says what happened and whose message holds
 * nothing of the statement or its values. Cancellation: an aborted signal rejects at once; an embedded engine
 * computes on until the statement's own bounds end it.
 */
export interface Engine {
  /** All rows of a small answer. 64-bit integers come as numbers: select them `toString` where they can be large. */
  rows<Row>(query: Sql, options: QueryOptions): Promise<Row[]>;
  /** The whole answer as bytes in one of the engine's formats. */
  bytes(query: Sql, format: RawFormat, options: QueryOptions): Promise<Buffer>;
  /** DDL, mutations and INSERT … SELECT. */
  command(statement: Sql, options: QueryOptions): Promise<void>;
  /** Appends rows; resolves when they are durable. Columns left out of a row take their default. */
  insert(table: string, rows: readonly object[], options: QueryOptions): Promise<void>;
  /**
   * How many changes of a table this process has begun, as the only one that writes to the store: what was read of the
   * table holds as long as the count. Undefined while one is running, and where other processes may write.
   */
  writeCountOf(table: string): number | undefined;
  /** The engine's version, like "26.7.2.1". Rejects when the store is not reachable. */
  version(): Promise<string>;
  /** Whether reads and whether writes can succeed now. Never rejects. */
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}
