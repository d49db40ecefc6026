import { isJsonObject } from "../../shared/json.ts";
import type { Issues, Loc } from "../issues.ts";
import { didYouMean } from "../nearest-names.ts";

interface Entry {
  readonly name: string;
  readonly value: unknown;
}

/** `{"$operator": …}`: an object with exactly one member. */
export function onlyEntry(json: unknown, loc: Loc, issues: Issues): Entry | undefined {
  if (!isJsonObject(json))
    return issues.add(loc, "dict_type", 'Input should be an object like {"$operator": …}');
  const names = Object.keys(json);
  const [name] = names;
  if (name === undefined) return issues.add(loc, "too_short", "Takes exactly one operator, not none");
  if (names.length > 1) return issues.add(loc, "too_long", `Takes exactly one operator, not ${names.length}`);
  return { name, value: json[name] };
}

interface MemberNames {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** An object with only these members. Extra ones are issues, but the others are still read. */
export function parseMembers(
  json: unknown,
  loc: Loc,
  { required, optional }: MemberNames,
  issues: Issues,
): Record<string, unknown> | undefined {
  if (!isJsonObject(json)) {
    return issues.add(loc, "dict_type", `Input should be an object with ${required.join(" and ")}`);
  }
  const known = [...required, ...optional];
  for (const name of Object.keys(json)) {
    if (known.includes(name)) continue;
    issues.add(
      [...loc, name],
      "extra_forbidden",
      `Extra inputs are not permitted.${didYouMean(name, known)}`,
    );
  }
  const missing = required.filter((name) => !Object.hasOwn(json, name));
  for (const name of missing) issues.add([...loc, name], "missing", "Field required");
  return missing.length === 0 ? json : undefined;
}

/** Whether a list has as many items as an operator takes. */
export function checkLength(
  list: readonly unknown[],
  loc: Loc,
  { min, max }: { min: number; max: number },
  issues: Issues,
): boolean {
  if (list.length >= min && list.length <= max) return true;
  const wanted = `${min === max ? "exactly" : "at least"} ${min} ${min === 1 ? "operand" : "operands"}`;
  issues.add(loc, list.length < min ? "too_short" : "too_long", `Takes ${wanted}, not ${list.length}`);
  return false;
}
