import { isJsonObject, parseJson } from "../../shared/json.ts";
import { endOfValue } from "../../shared/json-members.ts";
import { endOfString } from "../../shared/outside-strings.ts";

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Lists of a JSON response, from which items can be left out without changing other bytes. */
export class JsonList {
  /** One character per byte: all structure of JSON is ASCII. */
  readonly #text: string;
  readonly #members: ReadonlyMap<string, Range>;
  readonly #lists: readonly (readonly (Range & { readonly value: unknown })[])[];
  readonly value: unknown;

  /** Errors: SyntaxError. */
  constructor(json: Buffer) {
    this.#text = json.toString("latin1");
    this.value = parseJson(json.toString("utf8").replace(/^\uFEFF/, ""));
    const from = this.#text.search(/[^\s\xef\xbb\xbf]/);
    const whole = ["", { from, to: this.#text.length }] as const;
    const members =
      this.#text[from] === "{" ? this.#partsAt(from).map((part) => this.#memberAt(part)) : [whole];
    this.#members = new Map(members);
    const opens = members.map(([, value]) => value.from + this.#slice(value).search(/\S/));
    this.#lists = opens
      .filter((open) => this.#text[open] === "[")
      .map((open) => this.#partsAt(open).map((part) => ({ ...part, value: this.#parse(part) })));
  }

  /** Items of the value or of its members. */
  get items(): readonly unknown[] {
    return this.#lists.flat().map(({ value }) => value);
  }

  /** Returns the bytes without some items; `first_id` and `last_id` become those of the remaining items. */
  without(left: ReadonlySet<unknown>): Buffer {
    const kept = this.#lists.map((items) => items.filter(({ value }) => !left.has(value)));
    const ids = kept.flat().flatMap(({ value }) => (isJsonObject(value) ? (value["id"] ?? []) : []));
    const edits = this.#lists.flatMap((items, at) => {
      const [first, last] = [items[0], items.at(-1)];
      if (first === undefined || last === undefined) return [];
      return [{ from: first.from, to: last.to, text: kept[at]!.map((item) => this.#slice(item)).join() }];
    });
    for (const [name, at] of [
      ["first_id", 0],
      ["last_id", -1],
    ] as const) {
      const cursor = this.#members.get(name);
      const id = ids.at(at) ?? "";
      if (cursor !== undefined && this.#parse(cursor) !== id)
        edits.push({ ...cursor, text: Buffer.from(JSON.stringify(id)).toString("latin1") });
    }
    let text = "";
    let copied = 0;
    for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
      text += this.#slice({ from: copied, to: edit.from }) + edit.text;
      copied = edit.to;
    }
    return Buffer.from(text + this.#text.slice(copied), "latin1");
  }

  /** Returns what commas divide in the object or list that begins at `open`. */
  #partsAt(open: number): Range[] {
    const parts: Range[] = [];
    for (let from = open + 1; ;) {
      const to = endOfValue(this.#text, from);
      if (this.#slice({ from, to }).trim() !== "") parts.push({ from, to });
      if (this.#text[to] !== ",") return parts;
      from = to + 1;
    }
  }

  #memberAt({ from, to }: Range): readonly [name: string, value: Range] {
    const keyEnd = endOfString(this.#text, this.#text.indexOf('"', from));
    const value = { from: this.#text.indexOf(":", keyEnd) + 1, to };
    return [String(this.#parse({ from, to: keyEnd })), value];
  }

  #slice({ from, to }: Range): string {
    return this.#text.slice(from, to);
  }

  #parse(range: Range): unknown {
    return parseJson(Buffer.from(this.#slice(range), "latin1").toString("utf8"));
  }
}
