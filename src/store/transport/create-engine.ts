import { setImmediate as nextTurn } from "node:timers/promises";
import { join, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine, QueryOptions, RawFormat, StoreHealth } from "../engine.ts";
import { defaultLimits, type LimitProfile, type LimitTable } from "../limits.ts";
import { StorageError, toStorageError } from "../storage-error.ts";
import type { SendOptions, Transport } from "./transport.ts";

export interface EngineOptions {
  readonly limits?: LimitTable;
}

/** The storage port over a transport to ClickHouse: the part that both adapters share. */
export function createEngine(transport: Transport, options: EngineOptions = {}): Engine {
  const { limits = defaultLimits } = options;
  const toSend = (asked: QueryOptions, profile: LimitProfile, settings: SendOptions["settings"]) => ({
    name: asked.name,
    profile,
    settings: { ...limits[profile], max_query_size: MAX_QUERY_BYTES, log_comment: asked.name, ...settings },
    signal: asked.signal,
    tables: asked.tables,
    ...(asked.requireCurrent === true ? { requireCurrent: true } : {}),
  });
  const read = async (query: Sql, format: RawFormat, options: QueryOptions): Promise<Buffer> => {
    const formatted = join([query, trusted(`FORMAT ${format}`)], "\n");
    const answer = await attempt(options, () =>
      transport.read(formatted, toSend(options, options.limits ?? "interactive", readSettings)),
    );
    options.onRead?.({ rows: answer.readRows, bytes: answer.readBytes });
    return answer.bytes;
  };

  return {
    bytes: read,
    async rows<Row>(query: Sql, options: QueryOptions): Promise<Row[]> {
      return parseLines<Row>(await read(query, "JSONEachRow", options));
    },
    command: (statement, asked) =>
      attempt(asked, () =>
        transport.command(statement, toSend(asked, asked.limits ?? "maintenance", commandSettings)),
      ),
    async insert(table, rows, asked) {
      if (rows.length === 0) return;
      const lines = await toLines(rows);
      await attempt(asked, () =>
        transport.insert({ table, ...lines }, toSend(asked, asked.limits ?? "ingest", insertSettings)),
      );
    },
    writeCountOf: (table) => transport.changesOf?.(table),
    async version() {
      const rows = await this.rows<{ version: string }>(sql`SELECT version() AS version`, {
        name: "version",
        tables: "local",
      });
      const version = rows[0]?.version;
      if (version === undefined) throw new StorageError("unavailable", "version", undefined, "no answer");
      return version;
    },
    async health() {
      if (transport.health !== undefined) return transport.health();
      return healthOf(this);
    },
    close: () => transport.close(),
  };
}

/** Of one server. */
async function healthOf(engine: Engine): Promise<StoreHealth> {
  try {
    await engine.rows(sql`SELECT 1`, { name: "health", tables: "local" });
    return { reads: undefined, writes: undefined };
  } catch {
    const problem = "The store is not reachable.";
    return { reads: problem, writes: problem };
  }
}

/** The engine's own bound, 256 KiB, is met by large questions in the query language. */
const MAX_QUERY_BYTES = 16 * 1024 * 1024;
const insertSettings = {
  // batches are made here, so the engine need not wait for more
  async_insert: 0,
  // a batch of old calls may be of many months
  max_partitions_per_insert_block: 0,
  // An equal block is not a repeated one: a call renamed to A, to B and to A again must end as A.
  deduplicate_insert: "disable",
  // a batch is too small to be divided among threads
  input_format_parallel_parsing: 0,
  // rows with one key are folded when they are read, and by merges
  optimize_on_insert: 0,
};
// a migration that writes equal blocks means each of them
const commandSettings = { deduplicate_insert: "disable", deduplicate_insert_select: "disable" };
const readSettings = {
  output_format_json_quote_64bit_integers: 0,
  readonly: 2,
  // a deletion affects reads once it is accepted, before its parts are rewritten
  apply_mutations_on_fly: 1,
  max_query_size: 4 * 1024 * 1024,
  max_ast_elements: 500_000,
  max_expanded_ast_elements: 500_000,
};

async function attempt<Result>(options: QueryOptions, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (options.signal?.aborted === true) {
      throw new StorageError("aborted", options.name, undefined, "the caller has left");
    }
    throw toStorageError(error, options.name);
  }
}

/** What is written as text before the event loop runs other work, in characters. */
const CHARS_PER_TURN = 2 * 1024 * 1024;

/** The columns that any of the rows has, and the rows as lists of their values. */
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
