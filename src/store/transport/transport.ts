import type { Sql } from "../../query/sql.ts";
import type { StoreHealth, TableScope } from "../engine.ts";
import type { LimitProfile } from "../limits.ts";

export interface SendOptions {
  readonly name: string;
  readonly profile: LimitProfile;
  /** Engine settings that hold for this statement alone. */
  readonly settings: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal | undefined;
  readonly requireCurrent?: boolean;
  readonly tables?: TableScope | undefined;
}

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  /** JSON, one row per line: a list of the values of its columns, null for the column's default. */
  readonly rows: Buffer;
}

/** What the engine did for one statement, as far as it reports that. */
export interface Answer {
  readonly bytes: Buffer;
  readonly readRows: number;
  readonly readBytes: number;
}

/** One way to reach ClickHouse. Errors: whatever the driver throws; `createEngine` classifies them. */
export interface Transport {
  read(query: Sql, options: SendOptions): Promise<Answer>;
  command(statement: Sql, options: SendOptions): Promise<void>;
  insert(insert: Insert, options: SendOptions): Promise<void>;
  /** What it knows of its servers without a statement. One that knows nothing has none. */
  health?(): Promise<StoreHealth>;
  /** As of `Engine`. One whose store others may write to has none. */
  changesOf?(table: string): number | undefined;
  close(): Promise<void>;
}
