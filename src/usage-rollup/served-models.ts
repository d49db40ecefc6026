import { parseJsonText } from "../shared/escaped-keys.ts";
import type { Service } from "../usage/usage.ts";
import { parsePriceKey, serviceOf } from "./price-key.ts";
import type { UsageRecord } from "./usage-record.ts";

/** LLM with its provider and service tier, where known. */
export interface ServedModel {
  readonly llm: string;
  readonly service: Service | undefined;
  /** True if some usage has units besides tokens. */
  readonly hasUnits: boolean;
  /** Upper bound of the input of all requests, in tokens. */
  readonly maxInput: number;
}

/** Encodes the distinct LLMs and services of records as JSON texts for `RollupManifest.llms`. */
export function servedModelsOf(records: readonly UsageRecord[]): readonly string[] {
  const inputs = new Map<string, number>();
  for (const { price_key: priceKey, input_tokens: input } of records)
    if (priceKey !== "") inputs.set(priceKey, Math.max(input, inputs.get(priceKey) ?? 0));
  const all = [...inputs].map(([priceKey, maxInput]): ServedModel => {
    const { llm, service, kinds, exact } = parsePriceKey(priceKey);
    const hasUnits = exact !== undefined || kinds.units.length > 0;
    return { llm, service, hasUnits, maxInput };
  });
  return mergeModels(all).map(({ llm, service, hasUnits, maxInput }) =>
    JSON.stringify([llm, service?.provider ?? "", service?.tier ?? "", Number(hasUnits), boundOf(maxInput)]),
  );
}

/** Decodes and merges the texts of manifests. */
export function parseServedModels(texts: Iterable<string>): readonly ServedModel[] {
  const all = [...new Set(texts)].map((text): ServedModel => {
    const [llm, provider, tier, hasUnits, maxInput] = parseJsonText(text) as [
      string,
      string,
      string,
      number,
      number,
    ];
    return { llm, service: serviceOf(provider, tier), hasUnits: hasUnits === 1, maxInput };
  });
  return mergeModels(all);
}

function mergeModels(all: readonly ServedModel[]): readonly ServedModel[] {
  const same = Map.groupBy(all, ({ llm, service }) => JSON.stringify([llm, service]));
  return [...same.values()].map((some) => ({
    ...some[0]!,
    hasUnits: some.some(({ hasUnits }) => hasUnits),
    maxInput: Math.max(...some.map(({ maxInput }) => maxInput)),
  }));
}

/** Rounds up to a power of two, so that most manifests share their texts. */
function boundOf(input: number): number {
  return input <= 1 ? 1 : 2 ** Math.ceil(Math.log2(input));
}
