/** An operation for mingo: `$getField` of MongoDB reads one key; a path is written with a dollar. */
export function toMongo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toMongo);
  if (typeof value !== "object" || value === null) return value;
  if ("$getField" in value) return `$${value.$getField as string}`;
  if ("$literal" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toMongo(inner)]));
}
