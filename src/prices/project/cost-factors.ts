import { listProviderOf } from "../list/model-names.ts";
import { byPrecedence, type Dated } from "./precedence.ts";

/** Amount that a project pays a provider per dollar of list cost: discounts, taxes, another currency. */
export interface CostFactor extends Dated {
  /** As returned by `providerNamed`; '' for all providers without a factor of their own. */
  readonly provider: string;
  readonly factor: number;
}

/** The factors of a project at the time they were read. */
export interface CostFactors {
  /**
   * The factor in force at an instant (µs since the epoch) for the provider of a call (null: unknown): the latest one for that
   * provider, or else the latest one for all providers. Undefined: none, so the list cost is paid.
   */
  at(provider: string | null, atUs: number): CostFactor | undefined;
}

/** One name per provider, whether a convention, an SDK or the price list names it. */
export function providerNamed(name: string): string {
  const plain = name.trim().toLowerCase().toWellFormed();
  return listProviderOf(plain)?.id ?? plain;
}

export function costFactors(factors: readonly CostFactor[]): CostFactors {
  const byProvider = Map.groupBy(factors.toSorted(byPrecedence), ({ provider }) => provider);
  const latest = (provider: string, atUs: number) =>
    byProvider.get(provider)?.findLast(({ effectiveAtUs }) => effectiveAtUs <= atUs);
  return {
    at: (provider, atUs) => (provider === null ? undefined : latest(provider, atUs)) ?? latest("", atUs),
  };
}
