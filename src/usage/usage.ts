import { countFields, type Counts } from "./count-fields.ts";
import type { UnitCounts } from "./units.ts";

/** Who served a call, and at which of its service tiers, both in lower case; '' where nobody says, or the tier is the usual one. */
export interface Service {
  readonly provider: string;
  readonly tier: string;
}

/** What one request, or several, used of one LLM: as much as decides what it costs. */
export interface PricedUsage extends Counts {
  /** True when `promptTokens` leaves the cache tokens out, as Anthropic's raw usage does. */
  readonly cacheOutsidePrompt: boolean;
  /** What else was used; absent where nobody says of anything else. */
  readonly units?: UnitCounts | undefined;
  readonly service?: Service | undefined;
}

/** What one call itself used of one LLM. */
export interface Usage extends PricedUsage {
  readonly llm: string;
}

export function isNothing(usage: PricedUsage): boolean {
  return usage.units === undefined && countFields.every(({ name }) => usage[name] === 0);
}
