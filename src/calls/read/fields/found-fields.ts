import { callFields } from "../../../query/fields/fields.ts";
import { Issues } from "../../../query/issues.ts";
import { isExactInteger } from "../../../shared/json.ts";

export const FIELD_TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;
export const MAX_FIELDS = 1000;
export const EXAMPLE_CHARACTERS = 200;
/** Calls with keys of their own have no end of paths. */
const MAX_PATHS = 20_000;
/** Never read from the summary. */
const COMPUTED = "summary.weave";

/** Collects the fields of calls as `$getField` spells them, as far as it can read them. */
export class FoundFields {
  private readonly byPath = new Map<string, { value: unknown; calls: number }>();
  private readonly prefix: string;
  private isFull = false;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Adds a value of a call with its members; of a list, the first item. */
  add(path: string, value: unknown): void {
    const isRequested = path.startsWith(this.prefix);
    if (isRequested ? !this.addPath(path, value) : !this.prefix.startsWith(path)) return;
    // after a backslash, a dot would be part of the key
    if (!["object", "array"].includes(typeOf(value)) || path.endsWith("\\")) return;
    for (const [key, item] of Object.entries(Array.isArray(value) ? value.slice(0, 1) : (value as object))) {
      const next = `${path}.${key.replaceAll(".", String.raw`\.`)}`;
      if (next !== COMPUTED) this.add(next, item);
    }
  }

  /** Returns the fields of the most calls, sorted by path. */
  fields() {
    const all = [...this.byPath].toSorted(
      ([one, a], [other, b]) => b.calls - a.calls || (one < other ? -1 : 1),
    );
    const shown = all.slice(0, MAX_FIELDS).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const fields = shown.map(([path, { value }]) => ({
      path,
      type: typeOf(value),
      example: exampleOf(value),
    }));
    return { fields, truncated: this.isFull || all.length > MAX_FIELDS };
  }

  /** Returns false if the path cannot be read, or is one too many. */
  private addPath(path: string, value: unknown): boolean {
    const known = this.byPath.get(path);
    if (known !== undefined) {
      known.calls++;
      known.value ??= value;
      return true;
    }
    this.isFull ||= this.byPath.size === MAX_PATHS;
    if (this.isFull || callFields(path, [], new Issues()) === undefined) return false;
    this.byPath.set(path, { value, calls: 1 });
    return true;
  }
}

function typeOf(value: unknown): (typeof FIELD_TYPES)[number] {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return isExactInteger(value) ? "number" : (typeof value as (typeof FIELD_TYPES)[number]);
}

/** Null for objects and lists; text is cut. */
function exampleOf(value: unknown): unknown {
  if (typeof value !== "string") return ["object", "array"].includes(typeOf(value)) ? null : value;
  return Array.from(value.slice(0, 2 * EXAMPLE_CHARACTERS))
    .slice(0, EXAMPLE_CHARACTERS)
    .join("");
}
