import { isJsonObject, parseJson } from "../../shared/json.ts";
import { endOfValue } from "../../shared/json-members.ts";
import { endOfString } from "../../shared/outside-strings.ts";

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Item extends Range {
  readonly value: unknown;
}

interface List extends Range {
  readonly items: readonly Item[];
}

/** JSON response that may be a list, whose items can be left out without changing other bytes. */
export class JsonList {
  /** One character per byte: all structure of JSON is ASCII. */
  readonly #text: string;
  readonly #lists: readonly List[];
  readonly #cursors: readonly (Range & { readonly name: string })[];
  readonly value: unknown;

  /** Errors: SyntaxError. */
  constructor(json: Buffer) {
    this.#text = json.toString("latin1");
    this.value = parseJson(json.toString("utf8").replace(/^\uFEFF/, ""));
    const start = this.#text.search(/[^\s\xef\xbb\xbf]/);
    const whole = { name: "", from: start, to: this.#text.length };
    const members = this.#text[start] === "{" ? this.#members(start) : [whole];
    this.#lists = members.flatMap((member) => this.#listAt(member));
    this.#cursors = members.filter(({ name }) => name === "first_id" || name === "last_id");
  }

  /** Items of the value or of its members. */
  get items(): readonly unknown[] {
    return this.#lists.flatMap(({ items }) => items.map(({ value }) => value));
  }

  /** Returns the bytes without some items; `first_id` and `last_id` become those of the remaining items. */
  without(left: ReadonlySet<unknown>): Buffer {
    const kept = this.#lists.map(({ items }) => items.filter(({ value }) => !left.has(value)));
    const ids = kept.flat().flatMap(({ value }) => (isJsonObject(value) ? (value["id"] ?? []) : []));
    const edits = [
      ...this.#lists.map(({ from, to }, at) => ({
        from,
        to,
        text: kept[at]!.map((item) => this.#text.slice(item.from, item.to)).join(),
      })),
      ...this.#cursors.flatMap(({ name, from, to }) => {
        const id = ids.at(name === "first_id" ? 0 : -1) ?? "";
        const text = Buffer.from(JSON.stringify(id)).toString("latin1");
        return this.#parse(from, to) === id ? [] : [{ from, to, text }];
      }),
    ];
    let text = "";
    let copied = 0;
    for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
      text += this.#text.slice(copied, edit.from) + edit.text;
      copied = edit.to;
    }
    return Buffer.from(text + this.#text.slice(copied), "latin1");
  }

  #members(open: number): (Range & { readonly name: string })[] {
    const members: (Range & { readonly name: string })[] = [];
    for (let at = open; this.#text[at] !== "}" && at < this.#text.length;) {
      const quote = this.#text.indexOf('"', at);
      if (quote === -1) break;
      const afterKey = endOfString(this.#text, quote);
      const from = this.#text.indexOf(":", afterKey) + 1;
      at = endOfValue(this.#text, from);
      members.push({ name: String(this.#parse(quote, afterKey)), from, to: at });
    }
    return members;
  }

  #listAt({ from, to }: Range): List[] {
    const open = from + this.#text.slice(from, to).search(/\S/);
    if (this.#text[open] !== "[") return [];
    const items: Item[] = [];
    for (let at = open + 1; ;) {
      const end = endOfValue(this.#text, at);
      if (this.#text.slice(at, end).trim() !== "")
        items.push({ from: at, to: end, value: this.#parse(at, end) });
      if (this.#text[end] !== ",") return [{ from: open + 1, to: end, items }];
      at = end + 1;
    }
  }

  #parse(from: number, to: number): unknown {
    return parseJson(Buffer.from(this.#text.slice(from, to), "latin1").toString("utf8"));
  }
}
