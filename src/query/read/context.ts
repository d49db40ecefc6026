import type { Context, Value } from "./typed.ts";

/**
 * What a value and what it is compared with are read as: instants before numbers, numbers before booleans, booleans
 * before text. Of a list, all have to be numbers, or booleans, to decide.
 */
export function chooseContext(value: Value, others: readonly Value[]): Context {
  if ([value, ...others].some((side) => side.type === "instant")) return "instant";
  for (const type of ["number", "bool"] as const) {
    const decided = others.length > 0 && others.every((other) => other.type === type);
    if (value.type === type || decided) return type;
  }
  return "text";
}
