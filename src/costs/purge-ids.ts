import type { PurgeExpression } from "./schema.ts";

/** The ids that a purge names. Prices are purged by id alone, never by what they say. */
export function idsToPurge(expression: PurgeExpression): readonly string[] {
  const parts = "$or" in expression ? expression.$or : [expression];
  const ids = parts.flatMap((part) =>
    "$eq" in part ? [part.$eq[1].$literal] : part.$in[1].map((id) => id.$literal),
  );
  return [...new Set(ids)];
}
