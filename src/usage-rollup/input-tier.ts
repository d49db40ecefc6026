import { join, param, sql, trusted, type Sql } from "../query/sql.ts";

/** Input sizes, in tokens, above which listed prices change. */
const BOUNDS = [32_000, 64_000, 128_000, 200_000, 256_000, 272_000, 512_000, 1_000_000];

/** Counts the bounds below an input size in tokens. */
export function inputTierOf(input: number): number {
  return BOUNDS.filter((bound) => input > bound).length;
}

/** True if `input_tier` tells which of these thresholds, in tokens, an input exceeds. */
export function areBounds(inputs: readonly number[]): boolean {
  return inputs.every((input) => BOUNDS.includes(input));
}

/** SQL: number of thresholds below the record's input tokens; uses `input_tier` when possible. */
export function countTiersBelow(inputs: readonly number[]): Sql {
  if (inputs.length === 0) return sql`0`;
  const isSmaller = (input: number): Sql => {
    const bound = BOUNDS.indexOf(input);
    return bound === -1
      ? sql`(input_tokens > ${param("Float64", input)})`
      : trusted(`(input_tier > ${bound})`);
  };
  return join(inputs.map(isSmaller), " + ");
}
