import { randomUUID } from "node:crypto";
import { addAbortSignal, Readable } from "node:stream";
import {
  EXCEPTION_TAG_HEADER_NAME,
  extractErrorAtTheEndOfChunk,
  type ClickHouseClient,
} from "@clickhouse/client";
import { render, type Sql } from "../../query/sql.ts";
import type { Admission } from "./admission.ts";
import { splitParams } from "./split-params.ts";
import { paramText } from "./param-text.ts";
import type { StatementResult, SendOptions, Transport } from "./transport.ts";

/** Creates a transport to one server over HTTP with the official client. */
export function createServerTransport(
  client: ClickHouseClient,
  { admission, graceMs }: { admission: Admission; graceMs: number },
): Transport {
  const exec = async (
    what: { query: string; values?: Readable; contentType?: string },
    { name, profile, settings, signal }: SendOptions,
  ): Promise<StatementResult> => {
    const leave = await admission.enter(profile, name, signal);
    // the server's own timeout fires first, with a specific error
    const deadline = AbortSignal.timeout(Number(settings["max_execution_time"]) * 1000 + graceMs);
    const abort = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    try {
      const { contentType, ...body } = what;
      const result = await client.exec({
        ...body,
        clickhouse_settings: settings,
        abort_signal: abort,
        ...(contentType === undefined ? {} : { http_headers: { "Content-Type": contentType } }),
      });
      const tag = result.response_headers[EXCEPTION_TAG_HEADER_NAME];
      return {
        bytes: await collect(result.stream, abort, typeof tag === "string" ? tag : undefined),
        readRows: Number(result.summary?.read_rows ?? 0),
        readBytes: Number(result.summary?.read_bytes ?? 0),
      };
    } catch (error) {
      throw deadline.aborted ? Object.assign(new Error("no response in time"), { code: "ETIMEDOUT" }) : error;
    } finally {
      leave();
    }
  };
  const run = (statement: Sql, sendOptions: SendOptions): Promise<StatementResult> => {
    const { text, params, types } = render(splitParams(statement));
    const named = Object.entries(params);
    if (named.length === 0) return exec({ query: text }, sendOptions);
    const form = asForm(
      text,
      named.map(([name, value]) => [name, paramText(types[name]!, value)]),
    );
    return exec({ query: "", ...form }, sendOptions);
  };

  return {
    // the server kills a read-only query when the client disconnects
    read: (query, { settings, ...rest }) =>
      run(query, {
        ...rest,
        settings: { ...settings, cancel_http_readonly_queries_on_client_close: 1 },
      }),
    async command(statement, sendOptions) {
      await run(statement, sendOptions);
    },
    async insert({ table, columns, rows }, sendOptions) {
      await exec(
        {
          query: `INSERT INTO ${table} (${columns.join(", ")}) FORMAT JSONCompactEachRow`,
          values: Readable.from([rows], { objectMode: false, highWaterMark: rows.length }),
        },
        sendOptions,
      );
    },
    close: () => client.close(),
  };
}

/**
 * Encodes query and parameters as a form body: URLs are limited to 1 MiB and proxies log them. `FormData` would make every
 * line feed, also of a literal, a carriage return and a line feed.
 */
function asForm(text: string, params: readonly (readonly [name: string, text: string])[]) {
  const boundary = randomUUID();
  // the server concatenates repeated fields
  const chunks = (text.match(/[^]{1,25000}/gu) ?? []).map((chunk) => ["query", chunk] as const);
  const fields = [...chunks, ...params.map(([name, value]) => [`param_${name}`, value] as const)].map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = Buffer.from(`${fields.join("")}--${boundary}--\r\n`);
  return {
    values: Readable.from([body], { objectMode: false, highWaterMark: body.length }),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/**
 * Reads the whole response. A query that fails after its first byte appends the exception with the tag of the response
 * header, or breaks the connection. Source: ClickHouse ≥ 25.11.
 */
async function collect(stream: Readable, signal: AbortSignal, tag: string | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let broken: unknown;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) chunks.push(chunk as Buffer);
  } catch (error) {
    broken = error;
  }
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  if (tag !== undefined && bytes.subarray(-tag.length - 40).includes(`${tag}\r\n__exception__\r\n`)) {
    throw extractErrorAtTheEndOfChunk(bytes, tag);
  }
  if (broken !== undefined) throw broken;
  return bytes;
}
