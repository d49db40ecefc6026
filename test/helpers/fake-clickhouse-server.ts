import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createGzip, gunzipSync } from "node:zlib";
import { Session } from "chdb";

/** Faults that the fake server simulates. */
export interface Faults {
  /** How an answer ends whose query fails after its first byte. Default: as servers from 25.11 on do. */
  midStream?: "tagged" | "tagged-and-broken" | "broken";
  /** Responds to every request like a proxy that cannot reach the server. */
  badGateway?: boolean;
  /** Accepts requests and never responds. */
  silent?: boolean;
  /** Result of `version()`. */
  version?: string;
  /** Responds to every statement with this exception. */
  exception?: string;
}

export interface FakeServer {
  readonly url: string;
  readonly faults: Faults;
  /** Queries that were stopped because their client had left. */
  cancelledCount(): number;
  /** The longest request line seen, in characters. */
  longestUrl(): number;
  close(): Promise<void>;
}

/** Limits of a server with default settings. Source: ClickHouse 26.7, `system.settings`. */
const MAX_URI = 1_048_576;
const MAX_FIELDS = 1000;
const MAX_FIELD_BYTES = 131_072;

const reserved = new Set(["query", "query_id", "database", "session_id", "role", "default_format"]);
const statusByCode: Readonly<Record<string, number>> = { 60: 404, 62: 400, 159: 408, 164: 500, 516: 403 };

/**
 * The HTTP interface of a ClickHouse server in front of the embedded engine that is open at `path`: statements in URL
 * or body, `param_*` in URL or form (the engine reads their text itself), settings in the URL, exceptions before and
 * after the first byte, limits of forms, gzip, `/ping`.
 */
export async function startFakeServer(path: string): Promise<FakeServer> {
  const faults: Faults = {};
  const seen = { cancelled: 0, longestUrl: 0 };
  const server = createServer({ maxHeaderSize: 16 * MAX_URI }, (request, response) => {
    answer(path, { request, response, faults, seen }).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    cancelledCount: () => seen.cancelled,
    longestUrl: () => seen.longestUrl,
    close: () => closeServer(server),
  };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

async function kill(path: string, mark: string): Promise<void> {
  const session = new Session(path);
  await session.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${quoted(mark)} ASYNC`);
  session.close();
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly faults: Faults;
  readonly seen: { cancelled: number; longestUrl: number };
}

async function answer(path: string, exchange: Exchange): Promise<void> {
  const { request, response, faults, seen } = exchange;
  seen.longestUrl = Math.max(seen.longestUrl, request.url!.length);
  if (faults.silent === true) return;
  if (faults.badGateway === true) {
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
    return;
  }
  if (faults.exception !== undefined) {
    sendException(response, faults.exception);
    return;
  }
  if (request.url === "/ping") {
    response.end("Ok.\n");
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const session = new Session(path);
  try {
    const statement = await readStatement(request);
    await session.queryAsync("SET max_query_size = 1000000000");
    for (const setting of statement.settings) await session.queryAsync(`SET ${setting}`);
    await run(session, statement, {
      ...exchange,
      gone: gone.signal,
      kill: () => kill(path, statement.mark),
    });
  } catch (error) {
    sendException(response, (error as Error).message);
  } finally {
    session.close();
  }
}

interface Statement {
  readonly text: string;
  readonly settings: readonly string[];
  readonly gzip: boolean;
  readonly cancellable: boolean;
  /** Its `log_comment`, made unique. */
  readonly mark: string;
}

async function readStatement(request: IncomingMessage): Promise<Statement> {
  if (request.url!.length > MAX_URI) throw new Error("Code: 1000. DB::Exception: URI is too long");
  const url = new URL(request.url!, "http://front");
  checkFields(
    url.search
      .slice(1)
      .split("&")
      .map((field) => field.slice(field.indexOf("=") + 1)),
  );
  const raw = await buffer(request);
  const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
  const fields = [...url.searchParams];
  const contentType = request.headers["content-type"] ?? "";
  let text = url.searchParams.get("query") ?? "";
  if (contentType.startsWith("multipart/form-data")) {
    const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
    for (const [name, value] of form)
      fields.push([name, typeof value === "string" ? value : await value.text()]);
    checkFields(fields.map(([, value]) => value));
    text = fields
      .filter(([name]) => name === "query")
      .map(([, value]) => value)
      .join("");
  } else {
    text = text === "" ? body.toString() : `${text}\n${body.toString()}`;
  }
  const settings = fields.filter(([name]) => !reserved.has(name));
  // what a server has when nobody says otherwise; it is set higher here only for long parameters
  const values = new Map([["max_query_size", "262144"], ...settings]);
  const mark = `${values.get("log_comment") ?? ""} ${randomUUID()}`;
  // last: what sets the others is not the statement that it names
  values.delete("log_comment");
  values.set("log_comment", mark);
  return {
    text,
    settings: [...values].map(([name, value]) => `${name} = ${quoted(value)}`),
    gzip:
      values.get("enable_http_compression") === "1" && /gzip/.test(request.headers["accept-encoding"] ?? ""),
    cancellable:
      values.get("readonly") === "2" && values.get("cancel_http_readonly_queries_on_client_close") === "1",
    mark,
  };
}

function quoted(value: string): string {
  return `'${value.replace(/[\\']/g, String.raw`\$&`)}'`;
}

function checkFields(values: readonly string[]): void {
  const problem =
    values.length > MAX_FIELDS
      ? "Too many form fields"
      : values.some((value) => Buffer.byteLength(value) > MAX_FIELD_BYTES)
        ? "Field value too long"
        : undefined;
  if (problem === undefined) return;
  throw new Error(`Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: ${problem}`);
}

async function run(
  session: Session,
  statement: Statement,
  exchange: Exchange & { gone: AbortSignal; kill: () => Promise<void> },
): Promise<void> {
  const { response, faults, seen, gone } = exchange;
  if (!/^\s*(SELECT|WITH|EXPLAIN)\b/i.test(statement.text)) {
    await session.queryAsync(statement.text);
    response.end();
    return;
  }
  const text =
    faults.version === undefined
      ? statement.text
      : statement.text.replace("version()", `'${faults.version}'`);
  const tag = "abcdefghijklmnop";
  const headers = {
    "x-clickhouse-exception-tag": tag,
    "x-clickhouse-summary": '{"read_rows":"0","read_bytes":"0"}',
  };
  if (gone.aborted && statement.cancellable) {
    seen.cancelled++;
    return;
  }
  const stream = session.queryStream(text);
  gone.addEventListener("abort", () => {
    if (!statement.cancellable || response.writableEnded) return;
    seen.cancelled++;
    void exchange.kill();
  });
  const out = statement.gzip ? createGzip() : response;
  if (statement.gzip) out.pipe(response);
  const start = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, statement.gzip ? { ...headers, "content-encoding": "gzip" } : headers);
  };
  try {
    for await (const chunk of stream) {
      start();
      if (!out.write(chunk.raw())) await once(out, "drain", { signal: gone }).catch(() => undefined);
      if (gone.aborted) return;
    }
    start();
    out.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    const message = `${(error as Error).message}\n`;
    const length = Buffer.byteLength(message);
    const text = `\r\n__exception__\r\n${tag}\r\n${message}${length} ${tag}\r\n__exception__\r\n`;
    const { midStream = "tagged" } = faults;
    if (midStream !== "broken") out.write(text);
    if (midStream === "tagged") out.end();
    else setImmediate(() => response.destroy());
  }
}

function sendException(response: ServerResponse, message: string): void {
  const code = /Code: (\d+)/.exec(message)?.[1] ?? "1000";
  response
    .writeHead(statusByCode[code] ?? 500, { "x-clickhouse-exception-code": code })
    .end(`${message} (version 26.7.2.1)\n`);
}
