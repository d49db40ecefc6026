import type { Context, Value } from "./typed.ts";

/**
 * The type that both sides of a comparison are read as: instants take precedence over numbers, numbers over booleans,
 * booleans over text. A list only counts as numbers or booleans if all of its items are.
 */
export function chooseContext(value: Value, others: readonly Value[]): Context {
  if ([value, ...others].some((side) => side.type === "instant")) return "instant";
  for (const type of ["number", "bool"] as const) {
    const decided = others.length > 0 && others.every((other) => other.type === type);
    if (value.type === type || decided) return type;
  }
  return "text";
}
