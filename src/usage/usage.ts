import { countFields, type Counts } from "./count-fields.ts";
import { hasNonTokenUnits, pricedUnitsOf, type UnitCounts } from "./units.ts";

/** Provider and service tier of a call in lower case; '' if unknown, or for the standard tier. */
export interface Service {
  readonly provider: string;
  readonly tier: string;
}

/** Usage of one LLM by one or more requests: everything that determines the cost. */
export interface PricedUsage extends Counts {
  /** True if `promptTokens` excludes cached tokens, as in Anthropic's raw usage. */
  readonly cacheOutsidePrompt: boolean;
  /** Units besides the counts, and a stated cost; absent if none are reported. */
  readonly units?: UnitCounts | undefined;
  readonly service?: Service | undefined;
}

/** Provider of an LLM: the reported one, or else that of the price list. */
export type ProviderOf = (llm: string, servedBy: string | undefined) => string | null;

/** A call's own usage of one LLM. */
export interface Usage extends PricedUsage {
  readonly llm: string;
}

export function isNothing(usage: PricedUsage): boolean {
  return !hasNonTokenUnits(usage.units) && usesNothing(usage);
}

/** Whether nothing was used, even if a cost is stated. */
export function usesNothing(usage: PricedUsage): boolean {
  return countFields.every(({ name }) => usage[name] === 0) && !hasNonTokenUnits(pricedUnitsOf(usage.units));
}
