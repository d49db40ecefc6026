import { endOfString } from "./outside-strings.ts";

/**
 * What `parse` makes of a JSON text, with the keys that it says. V8 takes a key with an escape for the key of an
 * earlier text that is the beginning of how it is written: after `{"a":0,"\\":1}` it reads `"\n"`, or `"\u00e9"`, in
 * that place as `"\\"` (nodejs/node#63785; Node 22 to 26 have it). Here it never sees such a key: each is written
 * without an escape or, where it needs one, under another name. Errors: those of `parse`. Cost: linear, and a second
 * `parse` of a text with such keys.
 */
export function parseWithEscapedKeys(text: string, parse: (text: string) => unknown): unknown {
  const value = parse(text);
  const renamed = renameEscapedKeys(text);
  return renamed === undefined ? value : restoreKeys(parse(renamed.text), renamed.keys);
}

/** The same for `JSON.parse`. Errors: SyntaxError. */
export function parseJsonText(text: string): unknown {
  return parseWithEscapedKeys(text, JSON.parse);
}

interface Renamed {
  readonly text: string;
  /** The keys that can not be written without an escape, by the names that stand for them. */
  readonly keys: ReadonlyMap<string, string>;
}

/** A text must be JSON. Undefined when no key has an escape. */
function renameEscapedKeys(text: string): Renamed | undefined {
  const names = new Map<string, string>();
  let mark: string | undefined;
  const nameOf = (key: string): string => {
    if (!JSON.stringify(key).includes("\\")) return key;
    const known = names.get(key);
    if (known !== undefined) return known;
    // nobody who wrote the text could know it
    mark ??= crypto.randomUUID();
    const name = `${mark} ${names.size}`;
    names.set(key, name);
    return name;
  };

  let renamed = "";
  let copied = 0;
  for (let escape = text.indexOf("\\"), end = 0; escape !== -1; escape = text.indexOf("\\", end)) {
    const quote = text.lastIndexOf('"', escape);
    end = endOfString(text, quote);
    if (!isKey(text, end)) continue;
    const key = JSON.parse(text.slice(quote, end)) as string;
    renamed += `${text.slice(copied, quote)}"${nameOf(key)}"`;
    copied = end;
  }
  if (copied === 0) return undefined;
  return {
    text: renamed + text.slice(copied),
    keys: new Map(names.entries().map(([key, name]) => [name, key])),
  };
}

const COLON_NEXT = /\s*:/y;

function isKey(text: string, end: number): boolean {
  COLON_NEXT.lastIndex = end;
  return COLON_NEXT.test(text);
}

type Members = Record<string, unknown>;

function restoreKeys(value: unknown, keys: ReadonlyMap<string, string>): unknown {
  if (keys.size === 0) return value;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== "object" || node === null) continue;
    if (Array.isArray(node)) for (const member of node) left.push(member);
    else restoreMembers(node as Members, keys, left);
  }
  return value;
}

/** Puts all members in again, in their order, when one has another name. */
function restoreMembers(node: Members, keys: ReadonlyMap<string, string>, left: unknown[]): void {
  const names = Object.keys(node);
  const isRenamed = names.some((name) => keys.has(name));
  for (const name of names) {
    const value = node[name];
    left.push(value);
    if (!isRenamed) continue;
    delete node[name];
    Object.defineProperty(node, keys.get(name) ?? name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}
