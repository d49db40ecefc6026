import { Session, type ChdbResult } from "chdb";
import { render, type Sql } from "../../query/sql.ts";
import type { Admission } from "./admission.ts";
import { WriteCounters } from "../write-counters.ts";
import { restoreFatalSignals } from "./fatal-signals.ts";
import { paramText } from "./param-text.ts";
import { createSessionPool, type SessionWork } from "./session-pool.ts";
import { StorageError } from "../storage-error.ts";
import type { StatementResult, SendOptions, Transport } from "./transport.ts";

type EngineSettings = Readonly<Record<string, string | number | undefined>>;

/**
 * Creates a transport to ClickHouse in this process. Each running statement has its own session, so statements run
 * concurrently; the driver's own parameter binding would serialise them process-wide. An aborted statement is killed.
 * Source: docs/decisions/0004-clickhouse-adapters.md.
 */
export function createEmbeddedTransport(
  path: string,
  { admission, settings }: { admission: Admission; settings: EngineSettings },
): Transport {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const mainSession = new Session(path, {
    connectionArgs: given.map(([name, value]) => `--${name}=${value}`),
  });
  restoreFatalSignals();
  const sessions = createSessionPool(path);
  // the engine locks its directory, so this process is the only writer
  const counters = new WriteCounters();
  let closed = false;
  let count = 0;

  const inSession = async <Result>(
    options: SendOptions,
    workOf: (settings: SendOptions["settings"]) => SessionWork<Result>,
  ): Promise<Result> => {
    const { name, signal } = options;
    if (closed) throw new StorageError("unavailable", name, undefined, "closed");
    const leave = await admission.enter(options.profile, name, signal);
    const tag = `${String(options.settings["log_comment"])} ${++count}`;
    const work = async (): Promise<Result> => sessions.use(workOf({ ...options.settings, log_comment: tag }));
    const done = work().finally(leave);
    if (signal === undefined) return done;
    return orAborted(done, signal, () => void kill(mainSession, tag));
  };

  return {
    read: (query, options) =>
      inSession(options, (settings) => {
        const text = sessionText(query, settings);
        const kind = text.length > MAX_KEPT_TEXT ? undefined : `read ${Object.keys(settings).join()}`;
        return { kind, run: async (session) => toResult(await session.queryAsync(text)) };
      }),
    async command(statement, options) {
      await inSession(options, (settings) => ({
        kind: undefined,
        run: (session) =>
          counters.during(undefined, () => session.queryAsync(sessionText(statement, settings))),
      }));
    },
    async insert({ table, columns, rows }, options) {
      await inSession(options, (settings) => ({
        // the driver applies these settings to the statement alone
        kind: "insert",
        run: (session) =>
          counters.during(table, () =>
            session.insert({ table, columns, values: rows, format: "JSONCompactEachRow", settings }),
          ),
      }));
    },
    writeCountOf: (table) => counters.of(table),
    async close() {
      if (closed) return;
      closed = true;
      await admission.idle();
      sessions.close();
      mainSession.close();
    },
  };
}

/** Limit of text in a reused session, which retains the parameters of its statements. */
const MAX_KEPT_TEXT = 64 * 1024;

function toResult(result: ChdbResult): StatementResult {
  const bytes = result.bytes();
  return {
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
  };
}

/** Rejects as soon as the signal aborts; kills the running statement without waiting for it. */
function orAborted<Result>(done: Promise<Result>, signal: AbortSignal, stop: () => void): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const abort = (): void => {
    stop();
    reject(signal.reason as Error);
  };
  signal.addEventListener("abort", abort, { once: true });
  done.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}

/** Has no effect on a finished statement. */
async function kill(mainSession: Session, tag: string): Promise<void> {
  await mainSession
    .queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(tag)} ASYNC`)
    .catch(() => undefined);
}

/** Renders `SET …; statement`, preceded by `SET max_query_size` if it is long. */
function sessionText(statement: Sql, settings: SendOptions["settings"]): string {
  const { text, params, types } = render(statement);
  const assignments = [
    ...Object.entries(settings).map(([name, value]) => `${name} = ${literal(value)}`),
    ...Object.entries(params).map(
      ([name, value]) => `param_${name} = ${literal(paramText(types[name]!, value))}`,
    ),
  ];
  const all = `SET ${assignments.join(", ")}; ${text}`;
  return all.length > MAX_KEPT_TEXT ? `SET max_query_size = 1000000000; ${all}` : all;
}

/**
 * Renders a number or a string literal; quotes, backslashes and control characters become `\xNN`, so that no value can end
 * the literal or the statement.
 */
function literal(value: string | number): string {
  if (typeof value === "number") return String(value);
  // eslint-disable-next-line no-control-regex -- it looks for control characters
  return `'${value.replace(/[\u0000-\u001f'\\\u007f]/g, byteEscape)}'`;
}

function byteEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
