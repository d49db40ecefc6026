import { isJsonObject, stringifyJson } from "../shared/json.ts";
import { MAX_PATH_CHARS, MAX_PATH_SEGMENTS } from "../query/fields/json-path.ts";

/** Scalars of a payload by path, stored for statistics. Nulls are not indexed. */
export interface PayloadIndex {
  readonly numbers: Readonly<Record<string, number>>;
  readonly booleans: Readonly<Record<string, 0 | 1>>;
  /** Paths of strings. */
  readonly texts: readonly string[];
}

/** Estimates the size of an index in bytes. */
export function indexBytes({ numbers, booleans, texts }: PayloadIndex): number {
  const paths = [Object.keys(numbers), Object.keys(booleans), texts].flat();
  return paths.reduce((sum, path) => sum + path.length + 16, 0);
}

/** Limits of an index, which can be many times larger than its payload. */
export const MAX_VALUES = 10_000;
export const MAX_PATHS_CHARS = 1024 * 1024;

/**
 * Indexes a payload; `undefined` if the index would exceed its limits. Skips values that no path can reach: below a key
 * that is empty or contains a dot, or beyond the depth or length of a path.
 */
export function indexPayload(payload: Readonly<Record<string, unknown>>): PayloadIndex | undefined {
  const numbers: Record<string, number> = Object.create(null);
  const booleans: Record<string, 0 | 1> = Object.create(null);
  const texts: string[] = [];
  let values = 0;
  let chars = 0;

  const add = (path: string, value: unknown): void => {
    if (path.length > MAX_PATH_CHARS) return;
    values += 1;
    chars += path.length;
    if (typeof value === "string") texts.push(path);
    else if (typeof value === "boolean") booleans[path] = value ? 1 : 0;
    else {
      // exact 64-bit integers are objects
      const number = typeof value === "number" ? value : Number(stringifyJson(value));
      if (Number.isFinite(number)) numbers[path] = number;
    }
  };
  const visit = (children: Iterable<readonly [string, unknown]>, prefix: string, depth: number): void => {
    if (depth > MAX_PATH_SEGMENTS) return;
    for (const [key, value] of children) {
      if (values > MAX_VALUES || chars > MAX_PATHS_CHARS) return;
      if (value === null || key === "" || key.includes(".")) continue;
      const path = prefix + key.toWellFormed();
      if (Array.isArray(value)) visit(positions(value), `${path}.`, depth + 1);
      else if (isJsonObject(value)) visit(Object.entries(value), `${path}.`, depth + 1);
      else add(path, value);
    }
  };

  visit(Object.entries(payload), "", 1);
  return values > MAX_VALUES || chars > MAX_PATHS_CHARS ? undefined : { numbers, booleans, texts };
}

function* positions(items: readonly unknown[]): Generator<readonly [string, unknown]> {
  for (let at = 0; at < items.length; at++) yield [String(at), items[at]];
}
