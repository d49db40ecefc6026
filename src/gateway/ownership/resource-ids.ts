import { isExactInteger, isJsonObject, stringifyJson } from "../../shared/json.ts";

/** Id of a training resource. */
export interface NamedId {
  /** In the form of `canonicalId`. */
  readonly id: string;
  readonly kind: "Model" | "Training job" | "Resource";
  /** True if an id without owner must be rejected too. */
  readonly mustBeKnown: boolean;
}

const UUID = /^[\da-f]{32}$/;
const REFERENCE = /(?:^|_)(?:model|job|checkpoint)_ids?$/;
const ANY_ID = /(?:^|_)ids?$|^after$/;

/** Returns one spelling per id: the upstream reads UUIDs as Python does, in any case, with braces, as a URN or without hyphens. */
export function canonicalId(text: string): string {
  const plain = text.normalize("NFKC").trim().toLowerCase();
  const digits = plain.replaceAll(/urn:|uuid:|[-{}]/g, "");
  return UUID.test(digits) ? digits : text;
}

export function idOf(value: unknown): string | undefined {
  const id = isJsonObject(value) ? textOf(value["id"]) : undefined;
  return id === undefined ? undefined : canonicalId(id);
}

/** Returns the ids in a value. Members that are no reference, such as a name, are ids only if another project has them. */
export function namedIdsIn(value: unknown): readonly NamedId[] {
  return [...textsIn(value)].flatMap(({ name, text }) => {
    const isNamedId = ANY_ID.test(name);
    // a body can have half a million numbers
    if (!isNamedId && text.length < 32) return [];
    const id = canonicalId(text);
    const kind = /job/.test(name) ? "Training job" : /model/.test(name) ? "Model" : "Resource";
    return isNamedId || UUID.test(id) ? [{ id, kind, mustBeKnown: REFERENCE.test(name) }] : [];
  });
}

/** Iterates over the texts and numbers of a JSON value at any depth. Items of a list have the list's name. */
export function* textsIn(value: unknown): Generator<{ readonly name: string; readonly text: string }> {
  const left: (readonly [name: string, value: unknown])[] = [["", value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, one] = next;
    const text = textOf(one);
    if (text !== undefined) yield { name, text };
    else if (typeof one === "object" && one !== null)
      for (const [key, member] of Object.entries(one)) left.push([Array.isArray(one) ? name : key, member]);
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || isExactInteger(value) ? stringifyJson(value) : undefined;
}
