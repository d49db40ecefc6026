import type { Service } from "../usage/usage.ts";

/** `undefined` if neither the provider nor the tier is known. */
export function serviceOf(provider: string, tier: string): Service | undefined {
  return provider === "" && tier === "" ? undefined : { provider, tier };
}
