import { endOfString } from "./outside-strings.ts";

/**
 * Parses JSON with escaped keys correctly. V8 confuses a key with an escape with an earlier key that is a prefix of its
 * spelling: after `{"a":0,"\\":1}` it reads `"\n"` or `"\u00e9"` there as `"\\"` (nodejs/node#63785, Node 22 to 26). So each
 * such key is spelled without an escape or, if it needs one, renamed before `parse` and back afterwards. Errors: those of
 * `parse`. Cost: linear, and a second `parse` of texts with such keys.
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

/** The prefix of escaped names, which authors of texts cannot know. */
const MARK = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString("base64url");

interface Renamed {
  readonly text: string;
  /** Keys that need an escape, by their replacement names. */
  readonly keys: ReadonlyMap<string, string>;
}

/** A text must be JSON. Undefined when no key has an escape. */
function renameEscapedKeys(text: string): Renamed | undefined {
  const names = new KeyNames();
  const pieces: string[] = [];
  let copied = 0;
  for (let escape = text.indexOf("\\"), end = 0; escape !== -1; escape = text.indexOf("\\", end)) {
    const quote = text.lastIndexOf('"', escape);
    end = endOfString(text, quote);
    if (!isKey(text, end)) continue;
    pieces.push(text.slice(copied, quote), names.of(text.slice(quote, end)));
    copied = end;
  }
  if (copied === 0) return undefined;
  pieces.push(text.slice(copied));
  return { text: pieces.join(""), keys: names.keys };
}

class KeyNames {
  /** By name. */
  readonly keys = new Map<string, string>();
  private readonly byKey = new Map<string, string>();
  private readonly byWritten = new Map<string, string>();

  /** Replacement for a key as written in the document. Equal keys share one name. */
  of(written: string): string {
    const known = this.byWritten.get(written);
    if (known !== undefined) return known;
    const name = this.ofKey(JSON.parse(written) as string);
    this.byWritten.set(written, name);
    return name;
  }

  private ofKey(key: string): string {
    const plain = JSON.stringify(key);
    if (!plain.includes("\\")) return plain;
    let name = this.byKey.get(key);
    if (name === undefined) {
      name = `${MARK}${this.keys.size.toString(36)}`;
      this.byKey.set(key, name);
      this.keys.set(name, key);
    }
    return `"${name}"`;
  }
}

const COLON_NEXT = /\s*:/y;

function isKey(text: string, end: number): boolean {
  COLON_NEXT.lastIndex = end;
  return COLON_NEXT.test(text);
}

type Container = Record<string | number, unknown>;

function restoreKeys(value: unknown, keys: ReadonlyMap<string, string>): unknown {
  if (keys.size === 0) return value;
  const root: Container = { value };
  const left: Container[] = [root];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const container = next;
    const restore = (at: string | number): void => {
      const member = container[at];
      if (typeof member !== "object" || member === null) return;
      const restored = Array.isArray(member) ? member : withKeys(member as Container, keys);
      if (restored !== member) container[at] = restored;
      left.push(restored as Container);
    };
    if (Array.isArray(container)) for (let at = 0; at < container.length; at++) restore(at);
    else for (const key of Object.keys(container)) restore(key);
  }
  return root["value"];
}

/** The members of an object in their order, under their keys; the same object when no key has a name. */
function withKeys(object: Container, keys: ReadonlyMap<string, string>): Container {
  const names = Object.keys(object);
  if (!names.some((name) => keys.has(name))) return object;
  const restored: Container = {};
  for (const name of names) {
    const key = keys.get(name) ?? name;
    const value = object[name];
    if (key === "__proto__")
      Object.defineProperty(restored, key, { value, writable: true, enumerable: true, configurable: true });
    else restored[key] = value;
  }
  return restored;
}
