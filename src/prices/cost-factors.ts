import { sellerNamed } from "./model-names.ts";
import { byPrecedence, type Dated } from "./precedence.ts";

/** What a project pays at a provider for a dollar of list cost: discounts, taxes, another currency. */
export interface CostFactor extends Dated {
  /** As `providerNamed` gives it; '' for every provider that has no factor of its own. */
  readonly provider: string;
  readonly factor: number;
}

/** The factors of a project, as they stood when they were read. */
export interface CostFactors {
  /**
   * The factor in force at an instant (ms since the epoch) for who served a call, null where nobody says: the latest of
   * that provider, else the latest for every provider. Undefined: none, so that the list cost is what is paid.
   */
  at(provider: string | null, atMs: number): CostFactor | undefined;
}

/** One name for each provider, whether a convention, an SDK or the price list names it. */
export function providerNamed(name: string): string {
  const plain = name.trim().toLowerCase().toWellFormed();
  return sellerNamed(plain)?.id ?? plain;
}

export function costFactors(factors: readonly CostFactor[]): CostFactors {
  const byProvider = Map.groupBy(factors.toSorted(byPrecedence), ({ provider }) => provider);
  const latest = (provider: string, atMs: number) =>
    byProvider.get(provider)?.findLast(({ effectiveAtMs }) => effectiveAtMs <= atMs);
  return {
    at: (provider, atMs) => (provider === null ? undefined : latest(provider, atMs)) ?? latest("", atMs),
  };
}
