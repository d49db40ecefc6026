import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { outsideStrings } from "../../shared/outside-strings.ts";

/** The prefix of numbers that are strings meanwhile, which authors of texts cannot know. */
const MARK = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString("base64url");
const NUMBER = /-?(?:\d[\d.eE+-]*|Infinity)|NaN/g;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/** Lists of a JSON response, from which items can be left out; numbers are written as they came. */
export class JsonList {
  readonly value: unknown;
  readonly #written: unknown;

  /** Errors: SyntaxError. */
  constructor(json: Buffer) {
    const text = json.toString("utf8").replace(/^\uFEFF/, "");
    this.value = parseJson(text);
    this.#written = parseJsonText(outsideStrings(text, (piece) => piece.replace(NUMBER, `"${MARK}$&"`)));
  }

  /**
   * Returns the JSON with some items of the list, or of an object's lists; undefined if it has no others. `first_id` and
   * `last_id` become those of the remaining items.
   */
  filter(isKept: (item: unknown) => boolean): Buffer | undefined {
    const { value } = this;
    const read = isJsonObject(value) ? value : { list: value };
    let isCut = false;
    const members = Object.entries(isJsonObject(value) ? (this.#written as object) : { list: this.#written });
    const kept = members.map(([name, member]: [string, unknown]): [string, unknown] => {
      if (!Array.isArray(member)) return [name, member];
      const items = member.filter((_item, at) => isKept((read[name] as readonly unknown[])[at]));
      isCut ||= items.length < member.length;
      return [name, items];
    });
    if (!isCut) return undefined;
    const items = kept.flatMap(([, member]): readonly unknown[] => (Array.isArray(member) ? member : []));
    const ids = items.flatMap((item) => (isJsonObject(item) ? [item["id"] ?? ""] : []));
    const page = Object.fromEntries(kept);
    if ("first_id" in page) page["first_id"] = ids[0] ?? "";
    if ("last_id" in page) page["last_id"] = ids.at(-1) ?? "";
    return Buffer.from(JSON.stringify(isJsonObject(value) ? page : page["list"]).replace(MARKED, "$1"));
  }
}
