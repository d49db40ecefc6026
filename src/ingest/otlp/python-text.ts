/** Maximum nesting; deeper text is not parsed. */
const MAX_DEPTH = 64;
/** Maximum length in characters, beyond any model response. */
const MAX_CHARS = 4 * 1024 * 1024;

const SPACE = /\s*/y;
const NUMBER = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y;
const WORD = /[A-Za-z_][\w.]*/y;
const STRING = /[bru]?(?:'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)")/y;
/** `<ChatRole.USER: 'user'>`, `<function weather at 0x7f>`. */
const ANGLE = /<(?:[^<>'"]|'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*")*>/y;
const CLOSING: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

class Unreadable extends Error {}

/**
 * Parses Python's `repr` to JSON: `ChatCompletion(id='a', usage=None)` becomes `{id: "a", usage: null}`. Keeps escapes in
 * strings. Returns `undefined` for other or truncated text. Cost: O(length).
 */
export function readPythonText(text: string): unknown {
  if (text.length > MAX_CHARS) return undefined;
  const reader = new PythonReader(text);
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class PythonReader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#match(SPACE);
    return this.#at === this.#text.length;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Unreadable();
    this.#match(SPACE);
    const string = this.#match(STRING);
    if (string !== undefined) return string[1] ?? string[2] ?? "";
    const number = this.#match(NUMBER);
    if (number !== undefined) return Number(number[0].replaceAll("_", ""));
    const angle = this.#match(ANGLE);
    if (angle !== undefined) return angle[0];
    const opening = this.#text[this.#at] ?? "";
    if (CLOSING[opening] !== undefined) return this.#items(opening, depth);
    return this.#named(depth);
  }

  /** Parses `None`, `True`, a name, or `Name(member=value, …)`. */
  #named(depth: number): unknown {
    const word = this.#match(WORD)?.[0];
    if (word === undefined) throw new Unreadable();
    if (this.#text[this.#at] === "(") return this.#items("(", depth);
    if (word === "None") return null;
    return word === "True" || word === "False" ? word === "True" : word;
  }

  /** Parses items to an object if they are named, as in a dictionary or a call; else to a list. */
  #items(opening: string, depth: number): unknown {
    const closing = CLOSING[opening]!;
    const list: unknown[] = [];
    const members: [string, unknown][] = [];
    this.#at++;
    while (!this.#consumes(closing)) {
      const item = this.value(depth + 1);
      if (this.#consumes(opening === "{" ? ":" : "=")) members.push([String(item), this.value(depth + 1)]);
      else list.push(item);
      if (!this.#consumes(",") && this.#text[this.#at] !== closing) throw new Unreadable();
    }
    return members.length > 0 ? Object.fromEntries(members) : list;
  }

  #consumes(character: string): boolean {
    this.#match(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }
}
