import { setImmediate as nextTurn } from "node:timers/promises";
import { join, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine, QueryOptions, RawFormat, StoreHealth } from "../engine.ts";
import { defaultLimits, type LimitProfile, type LimitTable } from "../limits.ts";
import { StorageError, toStorageError } from "../storage-error.ts";
import type { SendOptions, Transport } from "./transport.ts";

export interface EngineOptions {
  readonly limits?: LimitTable;
}

/** Implements the storage port over a transport; shared by both adapters. */
export function createEngine(transport: Transport, options: EngineOptions = {}): Engine {
  const { limits = defaultLimits } = options;
  const toSend = (query: QueryOptions, profile: LimitProfile, settings: SendOptions["settings"]) => ({
    name: query.name,
    profile,
    settings: { ...limits[profile], max_query_size: MAX_QUERY_BYTES, log_comment: query.name, ...settings },
    signal: query.signal,
    tables: query.tables,
    synced: query.synced,
  });
  const read = async (query: Sql, format: RawFormat, options: QueryOptions): Promise<Buffer> => {
    const formatted = join([query, trusted(`FORMAT ${format}`)], "\n");
    const result = await attempt(options, () =>
      transport.read(formatted, toSend(options, options.limits ?? "interactive", readSettings)),
    );
    options.onRead?.({ rows: result.readRows, bytes: result.readBytes });
    return result.bytes;
  };

  return {
    bytes: read,
    async rows<Row>(query: Sql, options: QueryOptions): Promise<Row[]> {
      return parseLines<Row>(await read(query, "JSONEachRow", options));
    },
    command: (statement, options) =>
      attempt(options, () =>
        transport.command(statement, toSend(options, options.limits ?? "maintenance", commandSettings)),
      ),
    async insert(table, rows, options) {
      if (rows.length === 0) return;
      const lines = await toLines(rows);
      await attempt(options, () =>
        transport.insert({ table, ...lines }, toSend(options, options.limits ?? "ingest", insertSettings)),
      );
    },
    writeCountOf: (table) => transport.writeCountOf?.(table),
    async version() {
      const rows = await this.rows<{ version: string }>(sql`SELECT version() AS version`, {
        name: "version",
        tables: "local",
      });
      const version = rows[0]?.version;
      if (version === undefined) throw new StorageError("unavailable", "version", undefined, "no version");
      return version;
    },
    async health() {
      if (transport.health !== undefined) return transport.health();
      return healthOf(this);
    },
    close: () => transport.close(),
  };
}

/** Checks a single server. */
async function healthOf(engine: Engine): Promise<StoreHealth> {
  try {
    await engine.rows(sql`SELECT 1`, { name: "health", tables: "local" });
    return { reads: undefined, writes: undefined };
  } catch {
    const problem = "Store unreachable.";
    return { reads: problem, writes: problem };
  }
}

/** Large queries in the query language exceed ClickHouse's default of 256 KiB. */
const MAX_QUERY_BYTES = 16 * 1024 * 1024;
const insertSettings = {
  // the service batches inserts itself
  async_insert: 0,
  // a batch of old calls may span many monthly partitions
  max_partitions_per_insert_block: 0,
  // equal blocks are distinct writes: a call renamed to A, to B and to A again must end as A
  deduplicate_insert: "disable",
  // batches are too small for parallel parsing
  input_format_parallel_parsing: 0,
  // FINAL and merges combine rows with one key
  optimize_on_insert: 0,
};
// equal blocks of a migration are distinct writes
const commandSettings = { deduplicate_insert: "disable", deduplicate_insert_select: "disable" };
const readSettings = {
  output_format_json_quote_64bit_integers: 0,
  readonly: 2,
  // reads reflect a deletion once it is accepted, before data parts are rewritten
  apply_mutations_on_fly: 1,
  // a statement that reads a table twice sees the same rows
  enable_shared_storage_snapshot_in_query: 1,
  max_query_size: 4 * 1024 * 1024,
  max_ast_elements: 500_000,
  max_expanded_ast_elements: 500_000,
};

async function attempt<Result>(options: QueryOptions, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (options.signal?.aborted === true) {
      throw new StorageError("aborted", options.name, undefined, "aborted by the caller");
    }
    throw toStorageError(error, options.name);
  }
}

/** Characters encoded before yielding to the event loop. */
const CHARS_PER_TURN = 2 * 1024 * 1024;

/** Encodes rows as JSONCompactEachRow over the union of their columns. */
async function toLines(rows: readonly object[]): Promise<{ columns: string[]; rows: Buffer }> {
  const shapes = new Set(rows.map((row) => Object.keys(row).join()));
  const columns = [...new Set([...shapes].flatMap((shape) => shape.split(",")))];
  const valuesOf = (row: object): unknown[] =>
    shapes.size === 1 ? Object.values(row) : columns.map((name) => (row as Record<string, unknown>)[name]);
  const chunks: Buffer[] = [];
  let lines: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const line = JSON.stringify(valuesOf(row));
    lines.push(line);
    chars += line.length;
    if (chars < CHARS_PER_TURN) continue;
    chunks.push(Buffer.from(`${lines.join("\n")}\n`));
    lines = [];
    chars = 0;
    await nextTurn();
  }
  chunks.push(Buffer.from(lines.join("\n")));
  return { columns, rows: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) };
}

function parseLines<Row>(bytes: Buffer): Row[] {
  const rows: Row[] = [];
  for (const line of bytes.toString("utf8").split("\n")) if (line !== "") rows.push(JSON.parse(line) as Row);
  return rows;
}
