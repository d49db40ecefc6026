import type { Sql } from "../../query/sql.ts";
import type { StoreHealth, TableScope } from "../engine.ts";
import type { LimitProfile } from "../limits.ts";

export interface SendOptions {
  readonly name: string;
  readonly profile: LimitProfile;
  /** ClickHouse settings of this statement. */
  readonly settings: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal | undefined;
  readonly tables?: TableScope | undefined;
  /** See `QueryOptions`. */
  readonly synced?: string | undefined;
}

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  /** JSONCompactEachRow: one array of values per line, null for a column's default. */
  readonly rows: Buffer;
}

/** Result of a statement; counts are 0 if ClickHouse does not report them. */
export interface StatementResult {
  readonly bytes: Buffer;
  readonly readRows: number;
  readonly readBytes: number;
}

/** Connection to ClickHouse. Throws the driver's errors; `createEngine` classifies them. */
export interface Transport {
  read(query: Sql, options: SendOptions): Promise<StatementResult>;
  command(statement: Sql, options: SendOptions): Promise<void>;
  insert(insert: Insert, options: SendOptions): Promise<void>;
  /** Health known without a statement; absent for transports that do not watch servers. */
  health?(): Promise<StoreHealth>;
  /** See `Engine.writeCountOf`; absent if other processes may write. */
  writeCountOf?(table: string): number | undefined;
  close(): Promise<void>;
}
