import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { Assembler } from "./assembler.ts";
import { estimateTokens } from "./estimate.ts";
import { ByteBudget, toJson, type CapturedValue } from "./byte-budget.ts";

type Json = Readonly<Record<string, unknown>>;

/** What a provider counted, and how complete that is. */
export type CountedUsage =
  | { readonly basis: "exact" | "partial"; readonly usage: Json }
  | { readonly basis: "none" };

/** Where in a response a usage was. */
export interface UsageReport {
  /** The choice that the event is about, if it is about one only: servers that count as they go count it alone. */
  readonly choice: number | undefined;
  /** Everything that has begun has ended, and the event contains nothing else. */
  readonly isLastWord: boolean;
  /** Bytes of text that the model has written up to here. */
  readonly textBytes: number;
}

/** How a response ended. */
export interface Ending {
  readonly isComplete: boolean;
  readonly textBytes: number;
  /** What the model read, as bytes of text. */
  readonly promptBytes: number;
}

/** More usage is not kept. */
const MAX_USAGE_BYTES = 64 * 1024;

/**
 * What a provider reports of the usage of one response, in one event or in several. The last positive value of each
 * member holds: zeros stand for what is not known yet. `exact`: both counts are there, nothing was written after
 * them, and they can be true.
 */
export class ReportedUsage {
  readonly #usage = new Map<string, CapturedValue>();
  readonly #assembler = new Assembler(new ByteBudget(MAX_USAGE_BYTES));
  /** The completion tokens of each choice, since the last count of all. */
  readonly #byChoice = new Map<number, number>();
  #textAtCount = 0;
  #textAtLastWord: number | undefined;

  /** What was reported so far; undefined if nothing was. */
  get reported(): Json | undefined {
    return this.#usage.size === 0 ? undefined : (toJson(this.#usage) as Json);
  }

  add(usage: Json, { choice, isLastWord, textBytes }: UsageReport): void {
    if (isTooDeep(usage)) return;
    const credible = onlyCredible(usage);
    this.#assembler.update(this.#usage, credible);
    const { promptTokens, completionTokens } = readEntry(credible);
    if (isLastWord && promptTokens + completionTokens > 0) this.#textAtLastWord = textBytes;
    if (completionTokens === 0) return;
    this.#textAtCount = textBytes;
    if (choice === undefined) this.#byChoice.clear();
    else this.#byChoice.set(choice, completionTokens);
  }

  /** The count of the whole response. What the provider left out of it is estimated. */
  count({ isComplete, textBytes, promptBytes }: Ending): CountedUsage {
    const reported = this.reported ?? {};
    const read = readEntry(reported);
    const prompted = read.promptTokens + read.cacheReadTokens + read.cacheCreationTokens;
    const counted = this.#byChoice.size > 1 ? sumOf(this.#byChoice) : read.completionTokens;
    if (prompted + counted === 0) return { basis: "none" };

    const isPromptCounted = prompted > 0 || promptBytes === 0;
    const uncountedBytes = counted === 0 ? textBytes : textBytes - this.#textAtCount;
    const isLastWord = isComplete || this.#textAtLastWord === textBytes;
    const promptTokens = isPromptCounted ? read.promptTokens : estimateTokens(promptBytes);
    const completionTokens = counted + estimateTokens(uncountedBytes);
    const isExact = isPromptCounted && uncountedBytes === 0 && isLastWord && this.#byChoice.size < 2;
    const sum = promptTokens + completionTokens;
    if (isExact) {
      return {
        basis: "exact",
        usage: read.totalTokens < sum ? { ...reported, total_tokens: sum } : reported,
      };
    }
    return {
      basis: "partial",
      usage: {
        ...reported,
        ...(isPromptCounted ? {} : { prompt_tokens: promptTokens }),
        completion_tokens: completionTokens,
        total_tokens: sum,
      },
    };
  }
}

function sumOf(counts: ReadonlyMap<number, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Names of counts of tokens, as `completion_tokens`, `cached_tokens` or `promptTokenCount`. */
const TOKENS = /.tokens$|token_?count$/i;

/** The members that can be true. What counts tokens must be a count; no number at all is beyond 2^53. */
export function onlyCredible(usage: Json): Json {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]) => {
      if (TOKENS.test(name)) return isCount(value) ? [[name, Number(value)]] : [];
      if (isJsonObject(value)) return [[name, onlyCredible(value)]];
      return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : [[name, value]];
    }),
  );
}

/** Some servers write counts as strings. */
function isCount(value: unknown): boolean {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0;
}
