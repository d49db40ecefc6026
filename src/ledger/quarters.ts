import { countFields } from "../usage/count-fields.ts";
import { CALL_FIELDS, NO_LATENCY, type CallField, type Entry } from "./entries.ts";

export const QUARTER_US = 15 * 60 * 1_000_000;
/** Inputs between two of these share entries, so that few entries are on both sides of a price list's bound. */
const INPUT_BOUNDS = [32_000, 64_000, 128_000, 200_000, 256_000, 272_000, 512_000, 1_000_000];

/** What is added up of entries. */
export const SUMMED = [
  "calls",
  "errors",
  "usages",
  ...countFields.map(({ wire }) => wire),
  "uncached",
  "charged_requests",
] as const;
const NO_FIELDS = Object.fromEntries(CALL_FIELDS.map((field) => [field, ""])) as Record<CallField, string>;

type Quarter = { -readonly [Name in keyof Entry]: Entry[Name] };

/**
 * Entries added up by quarters of an hour, without what tells calls apart, for questions that need no more. An entry stands at
 * the time of its first call.
 */
export class Quarters {
  private readonly quarters = new Map<string, Quarter>();

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const key = keyOf(entry);
      const known = this.quarters.get(key);
      if (known === undefined) {
        this.quarters.set(key, { ...entry, ...NO_FIELDS, is_root: 0, latency: NO_LATENCY });
        continue;
      }
      for (const name of SUMMED) known[name] += entry[name];
      known.at = Math.min(known.at, entry.at);
      known.input_min = Math.min(known.input_min, entry.input_min);
      known.input_max = Math.max(known.input_max, entry.input_max);
    }
  }

  /** Undefined: a sum cannot be stored exactly. */
  entries(): readonly Entry[] | undefined {
    const added = [...this.quarters.values()];
    const isExact = added.every((entry) => SUMMED.every((name) => Number.isSafeInteger(entry[name])));
    return isExact ? added : undefined;
  }
}

function keyOf({ at, llm, provider, tier, usages, shape, detail, input_max: input }: Entry): string {
  const size = INPUT_BOUNDS.findIndex((bound) => input <= bound);
  const place = `${Math.floor(at / QUARTER_US)} ${Math.sign(usages)} ${shape} ${size}`;
  return `${place} ${llm.length} ${llm} ${provider.length} ${provider} ${tier.length} ${tier} ${detail}`;
}
