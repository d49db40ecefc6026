import type { Service } from "../usage/usage.ts";

/** Undefined: nothing is known of it. */
export function serviceOf(provider: string, tier: string): Service | undefined {
  return provider === "" && tier === "" ? undefined : { provider, tier };
}
