import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { render, sql, type Sql } from "../query/sql.ts";
import type { Engine, QueryOptions, RawFormat } from "./engine.ts";
import { defaultLimits, type LimitTable } from "./limits.ts";
import { StorageError, toStorageError } from "./storage-error.ts";

/**
 * The engine over the official client, whichever connection that client has. Settings stand in the SQL text,
 * because the embedded connection would keep them for every later statement.
 */
export function createClientEngine(client: ClickHouseClient, limits: LimitTable = defaultLimits): Engine {
  const run = async (text: string, statement: Sql, options: QueryOptions): Promise<Buffer> => {
    try {
      const result = await client.exec({
        query: text,
        query_params: { ...render(statement).params },
        ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
      });
      return await collect(result.stream);
    } catch (error) {
      throw toStorageError(error, options.name);
    }
  };
  const withSettings = (statement: Sql, options: QueryOptions): string =>
    `${render(statement).text} SETTINGS ${settingsText(limits, options)}`;
  const bytes = (query: Sql, format: RawFormat, options: QueryOptions): Promise<Buffer> =>
    run(`${withSettings(query, options)} FORMAT ${format}`, query, options);

  return {
    bytes,
    async rows<Row>(query: Sql, options: QueryOptions): Promise<Row[]> {
      return parseLines<Row>((await bytes(query, "JSONEachRow", options)).toString("utf8"));
    },
    async command(statement, options) {
      await run(render(statement).text, statement, options);
    },
    async insert(table, rows, options) {
      if (rows.length === 0) return;
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].join(", ");
      const head = `INSERT INTO ${table} (${columns}) SETTINGS ${settingsText(limits, { ...options, limits: "ingest" })} FORMAT JSONEachRow`;
      const body = rows.map((row) => JSON.stringify(row)).join("\n");
      try {
        const result = await client.exec({
          query: head,
          values: Readable.from([Buffer.from(body)], { objectMode: false, highWaterMark: body.length }),
          ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
        });
        await collect(result.stream);
      } catch (error) {
        throw toStorageError(error, options.name);
      }
    },
    async version() {
      const rows = await this.rows<{ version: string }>(sql`SELECT version() AS version`, {
        name: "version",
      });
      const version = rows[0]?.version;
      if (version === undefined) throw new StorageError("unavailable", "version", undefined, "no answer");
      return version;
    },
    close: () => client.close(),
  };
}

/** Ten times the engine's own bound: room for the largest query the language allows. */
const MAX_STATEMENT_ELEMENTS = 500_000;

function settingsText(limits: LimitTable, options: QueryOptions): string {
  const { max_execution_time, max_memory_usage } = limits[options.limits ?? "interactive"];
  return [
    `max_execution_time = ${max_execution_time}`,
    `max_memory_usage = ${max_memory_usage}`,
    `log_comment = '${options.name}'`,
    "output_format_json_quote_64bit_integers = 0",
    `max_ast_elements = ${MAX_STATEMENT_ELEMENTS}`,
    `max_expanded_ast_elements = ${MAX_STATEMENT_ELEMENTS}`,
  ].join(", ");
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function parseLines<Row>(text: string): Row[] {
  const rows: Row[] = [];
  for (const line of text.split("\n")) if (line !== "") rows.push(JSON.parse(line) as Row);
  return rows;
}
