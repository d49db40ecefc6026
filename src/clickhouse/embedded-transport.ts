import { Session } from "chdb";
import { render, type Sql } from "../query/sql.ts";
import type { Admission } from "./admission.ts";
import { paramText } from "./param-text.ts";
import { StorageError } from "./storage-error.ts";
import type { Answer, SendOptions, Transport } from "./transport.ts";

/**
 * ClickHouse in this process. Every statement has a session of its own (0.2 ms), so that its settings and parameters
 * die with it and statements run side by side; the driver's own binding of parameters runs one statement at a time,
 * process-wide. An aborted statement is killed. Source: docs/decisions/0004.
 */
export function createEmbeddedTransport(
  path: string,
  { admission, backupDir }: { admission: Admission; backupDir: string | undefined },
): Transport {
  const keeper = new Session(path, {
    connectionArgs: backupDir === undefined ? [] : [`--backups.allowed_path=${backupDir}`],
  });
  let closed = false;
  let count = 0;

  const inSession = async <Result>(
    options: SendOptions,
    work: (session: Session, settings: SendOptions["settings"]) => Promise<Result>,
  ): Promise<Result> => {
    const { name, signal } = options;
    if (closed) throw new StorageError("unavailable", name, undefined, "closed");
    const leave = await admission.enter(options.profile, name, signal);
    const mark = `${name} ${++count}`;
    const done = openSession(path)
      .then(async (session) => {
        try {
          return await work(session, { ...options.settings, log_comment: mark });
        } finally {
          session.close();
        }
      })
      .finally(leave);
    if (signal === undefined) return done;
    return orAborted(done, signal, () => void kill(keeper, mark));
  };

  const run = (statement: Sql, options: SendOptions): Promise<Answer> =>
    inSession(options, async (session, settings) => {
      const result = await session.queryAsync(sessionText(statement, settings));
      const bytes = result.bytes();
      return {
        bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        readRows: result.rowsRead,
        readBytes: result.bytesRead,
      };
    });

  return {
    read: run,
    async command(statement, options) {
      await run(statement, options);
    },
    async insert({ table, columns, rows }, options) {
      await inSession(options, (session, settings) =>
        session.insert({ table, columns, values: rows, format: "JSONEachRow", settings }),
      );
    },
    async close() {
      if (closed) return;
      closed = true;
      await admission.idle();
      keeper.close();
    },
  };
}

async function openSession(path: string): Promise<Session> {
  return new Session(path);
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

/** A statement that has ended meanwhile is none the worse for it. */
async function kill(keeper: Session, mark: string): Promise<void> {
  await keeper
    .queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(mark)} ASYNC`)
    .catch(() => undefined);
}

/** `SET …; statement`. The first setting lets the second one be as long as its parameters are. */
function sessionText(statement: Sql, settings: SendOptions["settings"]): string {
  const { text, params, types } = render(statement);
  const assignments = [
    ...Object.entries(settings).map(([name, value]) => `${name} = ${literal(value)}`),
    ...Object.entries(params).map(
      ([name, value]) => `param_${name} = ${literal(paramText(types[name]!, value))}`,
    ),
  ];
  return `SET max_query_size = 1000000000; SET ${assignments.join(", ")}; ${text}`;
}

/**
 * A number, or a string literal in which whatever could end it, or the statement, is written as the number of its byte:
 * quotes, backslashes and control characters.
 */
function literal(value: string | number): string {
  if (typeof value === "number") return String(value);
  // eslint-disable-next-line no-control-regex -- it looks for control characters
  return `'${value.replace(/[\u0000-\u001f'\\\u007f]/g, byteEscape)}'`;
}

function byteEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
