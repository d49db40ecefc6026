import { isExactInteger, stringifyJson } from "../../shared/json.ts";

/** Id of a training resource in a request. */
export interface NamedId {
  /** In the form of `canonicalId`. */
  readonly id: string;
  readonly kind: "Model" | "Training job" | "Checkpoint" | "Resource";
  /** True if an id without owner must be rejected too. */
  readonly mustBeKnown: boolean;
}

const UUID = /^[\da-f]{32}$/;

/** Returns one spelling per id: the upstream reads UUIDs as Python does, in any case, with braces, as a URN or without hyphens. */
export function canonicalId(text: string): string {
  const digits = text
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replaceAll(/urn:|uuid:|[-{}]/g, "");
  return UUID.test(digits) ? digits : text;
}

export function isUuid(id: string): boolean {
  return UUID.test(id);
}

/** Ids in path and query of a request under `/preview`. */
export interface TargetIds {
  readonly path: readonly NamedId[];
  readonly query: readonly NamedId[];
}

/** Collections whose members all have an owner. */
const COLLECTIONS: ReadonlySet<string> = new Set(["models", "training-jobs", "sft-training-jobs"]);

/** Reads the ids in a request target without `/v1`; undefined if no upstream could read its path as one under `/preview`. */
export function idsInTarget(target: string): TargetIds | undefined {
  const [path = "", ...query] = target.split("?");
  const [prefix, ...segments] = decoded(path)
    .split(/[/\\]+/)
    .filter((segment) => segment !== "");
  if (prefix?.toLowerCase() !== "preview") return undefined;
  const collection = segments[0]?.toLowerCase() ?? "";
  return {
    path: segments.flatMap((segment, at) => {
      const id = canonicalId(segment);
      const mustBeKnown = isUuid(id) || (at === 1 && COLLECTIONS.has(collection));
      // names of collections and of resources alternate
      return mustBeKnown || at % 2 === 1 ? [{ id, kind: kindOf(collection), mustBeKnown }] : [];
    }),
    query: [...new URLSearchParams(query.join("?"))].flatMap(([name, value]) =>
      value.split(",").flatMap((text) => namedBy(name, text)),
    ),
  };
}

/** Returns the ids among the texts of a JSON body. */
export function idsInBody(texts: Iterable<NamedText>): readonly NamedId[] {
  return [...texts].flatMap(({ name, text }) => namedBy(name, text));
}

const REFERENCE = /(?:^|_)(?:model|job|checkpoint)_ids?$/;
const ANY_ID = /(?:^|_)ids?$|^(?:after|before|cursor)$/;

/** Other members, such as a name, are ids only if another project has them. */
function namedBy(name: string, text: string): readonly NamedId[] {
  const isNamedId = ANY_ID.test(name);
  // a body can have half a million numbers
  if (!isNamedId && text.length < 32) return [];
  const id = canonicalId(text);
  if (!isNamedId && !isUuid(id)) return [];
  return [{ id, kind: kindOf(name), mustBeKnown: REFERENCE.test(name) }];
}

function kindOf(name: string): NamedId["kind"] {
  if (/job/.test(name)) return "Training job";
  if (/checkpoint/.test(name)) return "Checkpoint";
  return /model/.test(name) ? "Model" : "Resource";
}

/** Text in a JSON value, and the member that has it. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Iterates over the texts and numbers of a JSON value at any depth. Items of a list have the list's name. */
export function* textsIn(value: unknown): Generator<NamedText> {
  const left: (readonly [name: string, value: unknown])[] = [["", value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, one] = next;
    const text = textOf(one);
    if (text !== undefined) yield { name, text };
    else if (typeof one === "object" && one !== null)
      for (const [key, member] of Object.entries(one)) left.push([Array.isArray(one) ? name : key, member]);
  }
}

/** Returns the text of a string or number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || isExactInteger(value) ? stringifyJson(value) : undefined;
}

/** Decodes three times, as a proxy between may, and whatever the bytes: unlike `decodeURIComponent`, it never fails. */
function decoded(path: string): string {
  return Buffer.from(unescape(unescape(unescape(path))), "latin1").toString("utf8");
}
