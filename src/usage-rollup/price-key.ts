import { chargedOf, usedKindsOf, type UsedKinds } from "../prices/cost-of-aggregate.ts";
import { parseJsonText } from "../shared/escaped-keys.ts";
import { countRow, countsAt } from "../usage/count-fields.ts";
import type { PricedUnits, Unit } from "../usage/units.ts";
import type { PricedUsage, Service, Usage } from "../usage/usage.ts";

/** Determinants of a price besides time and input size; usages that share a key can be summed. */
export type PriceKey = { readonly llm: string; readonly service: Service | undefined } & (
  | { readonly kinds: UsedKinds; readonly exact?: undefined }
  /** The whole usage, if its costs cannot be summed: only equal usages share a key. */
  | { readonly exact: PricedUsage; readonly kinds?: undefined }
);

type Wire = readonly [llm: string, provider: string, tier: string, ...(KindsWire | ExactWire)];
type KindsWire = readonly [tokens: number, plain: number, ...units: readonly Unit[]];
type ExactWire = readonly [counts: readonly number[], isCacheOutside: boolean, units: PricedUnits];

/** Encodes the key of a usage; `units`: quantity per unit of the key, in its order. */
export function priceKeyOf(usage: Usage): { readonly text: string; readonly units: readonly number[] } {
  const { llm, service } = usage;
  const charged = chargedOf(usage);
  const { units: counts } = charged;
  const kinds = usedKindsOf(charged);
  const how: KindsWire | ExactWire =
    kinds === undefined
      ? [countRow(usage), usage.cacheOutsidePrompt, counts]
      : [kinds.tokens, kinds.plain, ...kinds.units];
  const wire: Wire = [llm, service?.provider ?? "", service?.tier ?? "", ...how];
  return { text: JSON.stringify(wire), units: kinds?.units.map((unit) => counts[unit]!) ?? [] };
}

export function parsePriceKey(text: string): PriceKey {
  const [llm, provider, tier, ...how] = parseJsonText(text) as Wire;
  const service = serviceOf(provider, tier);
  if (!isExact(how)) {
    const [tokens, plain, ...units] = how;
    return { llm, service, kinds: { tokens, plain, units } };
  }
  const [counts, cacheOutsidePrompt, units] = how;
  return { llm, service, exact: { ...countsAt(counts, 0), cacheOutsidePrompt, units, service } };
}

function isExact(how: KindsWire | ExactWire): how is ExactWire {
  return typeof how[0] !== "number";
}

/** `undefined` if neither the provider nor the tier is known. */
export function serviceOf(provider: string, tier: string): Service | undefined {
  return provider === "" && tier === "" ? undefined : { provider, tier };
}
