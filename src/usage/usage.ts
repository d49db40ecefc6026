import { countFields, type Counts } from "./count-fields.ts";
import { hasNonTokenUnits, type UnitCounts } from "./units.ts";

/** Who served a call and at which service tier, both in lower case; '' if unknown, or for the standard tier. */
export interface Service {
  readonly provider: string;
  readonly tier: string;
}

/** What one or more requests used of one LLM: everything that determines the cost. */
export interface PricedUsage extends Counts {
  /** True if `promptTokens` excludes cached tokens, as in Anthropic's raw usage. */
  readonly cacheOutsidePrompt: boolean;
  /** Units besides the counts; absent if none are reported. */
  readonly units?: UnitCounts | undefined;
  readonly service?: Service | undefined;
}

/** What one call itself used of one LLM. */
export interface Usage extends PricedUsage {
  readonly llm: string;
}

export function isNothing(usage: PricedUsage): boolean {
  return !hasNonTokenUnits(usage.units) && countFields.every(({ name }) => usage[name] === 0);
}
