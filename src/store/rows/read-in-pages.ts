import { sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { StorageError } from "../storage-error.ts";

/** Source: ClickHouse `src/Common/ErrorCodes.cpp`, TOO_MANY_ROWS_OR_BYTES. */
const TOO_MANY_BYTES = "396";
const FIRST_PAGE_KEYS = 64;
const MAX_PAGE_KEYS = 5000;
/** Target; the limit is twice that, except for a single key. */
const PAGE_BYTES = 4 * 1024 * 1024;
const BOUND = trusted(`SETTINGS max_result_bytes = ${8 * PAGE_BYTES}`);

export interface PageReader<Key> {
  readonly engine: Engine;
  /** Builds the SELECT of some keys, without SETTINGS. */
  readonly statement: (keys: readonly Key[]) => Sql;
  readonly name: string;
  readonly signal: AbortSignal;
}

export interface KeyPage<Key> {
  readonly keys: readonly Key[];
  /** Rows as RowBinary, unordered. */
  readonly bytes: Buffer;
}

/**
 * Reads rows with payloads of any size in bounded memory. Estimates the keys per page from the previous page; a page that
 * exceeds the limit is read again in halves. Throws `StorageError`.
 */
export async function* readInPages<Key>(
  keys: Iterator<Key>,
  reader: PageReader<Key>,
): AsyncGenerator<KeyPage<Key>> {
  const waiting: Key[] = [];
  for (let size = FIRST_PAGE_KEYS; ;) {
    for (let next; waiting.length < size && (next = keys.next()).done !== true;) waiting.push(next.value);
    if (waiting.length === 0) return;
    const page = waiting.slice(0, size);
    const bytes = await readPage(page, reader);
    if (bytes === undefined) {
      size = Math.ceil(page.length / 2);
      continue;
    }
    yield { keys: page, bytes };
    waiting.splice(0, page.length);
    const fitting = Math.floor((PAGE_BYTES * page.length) / Math.max(bytes.length, 1));
    size = Math.min(Math.max(fitting, 1), MAX_PAGE_KEYS);
  }
}

/** `undefined` if the rows exceed the limit. */
async function readPage<Key>(
  keys: readonly Key[],
  { engine, statement, name, signal }: PageReader<Key>,
): Promise<Buffer | undefined> {
  const bound = keys.length === 1 ? sql`` : BOUND;
  try {
    return await engine.bytes(sql`${statement(keys)} ${bound}`, "RowBinary", { name, signal });
  } catch (error) {
    if (isTooManyBytes(error)) return undefined;
    throw error;
  }
}

/** True if a result exceeded `max_result_bytes`. */
export function isTooManyBytes(error: unknown): boolean {
  return error instanceof StorageError && error.engineCode === TOO_MANY_BYTES;
}
