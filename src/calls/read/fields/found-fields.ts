import { callFields } from "../../../query/fields/fields.ts";
import { Issues } from "../../../query/issues.ts";
import { isExactInteger } from "../../../shared/json.ts";

export const FIELD_TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;

/** A field that some call has. */
export interface FoundField {
  readonly path: string;
  readonly type: (typeof FIELD_TYPES)[number];
  /** Value of one of the calls; null for objects and lists. Text is cut. */
  readonly example: unknown;
}

/** Fields by path; `truncated` if there are more. */
export interface Fields {
  readonly fields: readonly FoundField[];
  readonly truncated: boolean;
}

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

  /** True if paths with the prefix can begin with this one. */
  mayHold(path: string): boolean {
    return path.startsWith(this.prefix) || this.prefix.startsWith(path);
  }

  /** Adds a value of a call with its members; of a list, the first item. */
  add(path: string, value: unknown): void {
    if (!this.mayHold(path) || (path.startsWith(this.prefix) && !this.addPath(path, value))) return;
    const type = typeOf(value);
    // after a backslash, a dot would be part of the key
    if ((type !== "object" && type !== "array") || path.endsWith("\\")) return;
    const items = type === "array" ? (value as unknown[]).slice(0, 1) : (value as object);
    for (const [key, item] of Object.entries(items)) {
      const next = `${path}.${key.replaceAll(".", String.raw`\.`)}`;
      if (next !== COMPUTED) this.add(next, item);
    }
  }

  /** Returns the fields of the most calls, sorted by path. */
  fields(): Fields {
    const all = [...this.byPath].toSorted(
      ([one, a], [other, b]) => b.calls - a.calls || (one < other ? -1 : 1),
    );
    const fields = all.slice(0, MAX_FIELDS).map(([path, { value }]) => fieldOf(path, value));
    return {
      fields: fields.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
      truncated: this.isFull || all.length > MAX_FIELDS,
    };
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

function fieldOf(path: string, value: unknown): FoundField {
  const type = typeOf(value);
  if (type === "object" || type === "array") return { path, type, example: null };
  const example = type === "string" ? shortened(value as string) : value;
  return { path, type, example };
}

function typeOf(value: unknown): FoundField["type"] {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return isExactInteger(value) ? "number" : (typeof value as FoundField["type"]);
}

function shortened(text: string): string {
  return Array.from(text.slice(0, 2 * EXAMPLE_CHARACTERS))
    .slice(0, EXAMPLE_CHARACTERS)
    .join("");
}
