import { join, param, sql, trusted, type Sql } from "../query/sql.ts";

/** Sizes of requests at which listed prices change. */
const BOUNDS = [32_000, 64_000, 128_000, 200_000, 256_000, 272_000, 512_000, 1_000_000];

/** How many of them are smaller than an input. */
export function inputTierOf(input: number): number {
  return BOUNDS.filter((bound) => input > bound).length;
}

/** Of an entry, how many of some inputs are smaller than that of its request: by its class if that tells. */
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
