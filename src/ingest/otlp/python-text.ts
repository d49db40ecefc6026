/** Deeper text is not read. */
const MAX_DEPTH = 64;
/** Longer text is not read: no response of a model is. */
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
 * What Python's `repr` wrote, as JSON has it: `ChatCompletion(id='a', usage=None)` becomes `{id: "a", usage: null}`. Escapes in
 * strings stay as they are. Undefined for what is no such text, or is cut off. Cost: linear in the text.
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

  /** `None`, `True`, a name, or `Name(member=value, …)`. */
  #named(depth: number): unknown {
    const word = this.#match(WORD)?.[0];
    if (word === undefined) throw new Unreadable();
    if (this.#text[this.#at] === "(") return this.#items("(", depth);
    if (word === "None") return null;
    return word === "True" || word === "False" ? word === "True" : word;
  }

  /** Items with names, of a dictionary or a call, are an object; others are a list. */
  #items(opening: string, depth: number): unknown {
    const closing = CLOSING[opening]!;
    const list: unknown[] = [];
    const members: [string, unknown][] = [];
    this.#at++;
    while (!this.#takes(closing)) {
      const item = this.value(depth + 1);
      if (this.#takes(opening === "{" ? ":" : "=")) members.push([String(item), this.value(depth + 1)]);
      else list.push(item);
      if (!this.#takes(",") && this.#text[this.#at] !== closing) throw new Unreadable();
    }
    return members.length > 0 ? Object.fromEntries(members) : list;
  }

  #takes(character: string): boolean {
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
