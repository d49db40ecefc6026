import { AppError } from "../../shared/errors.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import type { Dimension } from "../plan/dimensions.ts";

/** Maximum characters of group keys in one response. */
const MAX_KEY_CHARS = 32 * 1024 * 1024;

/** Group key parts from the usage instead of the call. */
export interface UsageNames {
  readonly llm: string | null;
  readonly provider: string | null;
}

/** Index of groups by the JSON text of their keys. */
export class Groups {
  readonly keys: string[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly dimensions: readonly Dimension[];
  private keyChars = 0;

  constructor(dimensions: readonly Dimension[]) {
    this.dimensions = dimensions;
  }

  /** Finds or adds a group. `lines`: values of the call's fields, as `Dimensions.callKey` prints them; '' if all are absent. Errors: too_many_calls. */
  numberOf(lines: string, names: UsageNames): number {
    const values = lines.split("\n");
    let field = 0;
    const members = this.dimensions.map(({ label, source }) => {
      const text = source === "call" ? scalarText(values[field++] ?? "") : JSON.stringify(names[source]);
      return `${JSON.stringify(label)}:${text}`;
    });
    const key = `{${members.join(",")}}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.keyChars += key.length;
    if (this.keyChars > MAX_KEY_CHARS)
      throw new AppError(
        "too_many_calls",
        "The keys of the groups are too long. Group by fewer or shorter values.",
      );
    this.numbers.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }
}

/** Value of a group key: null if absent, JSON text if not a scalar. */
function scalarText(json: string): string {
  if (json === "" || json === "null") return "null";
  if (json.startsWith("{") || json.startsWith("[")) return JSON.stringify(json);
  return json.startsWith('"') ? JSON.stringify(parseJsonText(json)) : json;
}
