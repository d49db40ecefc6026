import { isJsonObject } from "../../shared/json.ts";
import { readEntry, withRest } from "../../usage/read-entry.ts";
import type { PricedUsage } from "../../usage/usage.ts";
import type { Draft, Json } from "./draft.ts";

/** Token count members, such as `completion_tokens` or `promptTokenCount`. */
const TOKENS = /.tokens$|token_?count$/i;

/** Adds a report of usage: the last positive value of each member holds, because zero may mean unknown. */
export function mergeCounts(draft: Draft, usage: Json): PricedUsage {
  const counts = withRest(credible(usage), false);
  draft.usage = merged(draft.usage ?? {}, counts);
  return readEntry(counts);
}

function merged(old: Json, said: Json): Json {
  const sum: Record<string, unknown> = { ...old };
  for (const [name, value] of Object.entries(said)) {
    const before = sum[name];
    if (isJsonObject(before) && isJsonObject(value)) sum[name] = merged(before, value);
    else if (before === undefined || (value !== 0 && value !== null && value !== "")) sum[name] = value;
  }
  return sum;
}

/** Returns the credible members: token counts must be counts, and no number exceeds 2^53. */
export function credible(usage: Json): Json {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]) => {
      if (TOKENS.test(name)) return isCount(value) ? [[name, Number(value)]] : [];
      if (isJsonObject(value)) return [[name, credible(value)]];
      return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : [[name, value]];
    }),
  );
}

/** True for a count; some servers send strings. */
function isCount(value: unknown): boolean {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0;
}
