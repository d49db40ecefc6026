import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { readEntry, withRest } from "../../usage/read-entry.ts";
import { Assembler } from "./assembler.ts";
import { estimateTokens } from "./estimate.ts";
import { ByteBudget, toJson, type CapturedValue } from "./byte-budget.ts";

type Json = Readonly<Record<string, unknown>>;

/** Provider's usage count and its completeness; without a count, what was used besides tokens. */
export type CountedUsage =
  | { readonly basis: "exact" | "partial"; readonly usage: Json }
  | { readonly basis: "none"; readonly usage?: Json; readonly others?: Readonly<Record<string, Json>> };

/** Position of a usage report in a response. */
export interface UsageReport {
  /** Choice of the event, if it has exactly one: servers with running counts count that choice alone. */
  readonly choice: number | undefined;
  /** All choices have ended, and the event contains nothing else. */
  readonly isFinal: boolean;
  /** Text generated so far, in bytes. */
  readonly textBytes: number;
}

/** End state of a response. */
export interface Ending {
  readonly isComplete: boolean;
  readonly textBytes: number;
  /** Prompt size in bytes of text. */
  readonly promptBytes: number;
}

/** Limit of captured usage. */
const MAX_USAGE_BYTES = 64 * 1024;

/**
 * Usage reported in one or several events. The last positive value of each member wins, because zero means unknown.
 * `exact`: both counts are present and credible, and no text follows them.
 */
export class ReportedUsage {
  readonly #usage = new Map<string, CapturedValue>();
  readonly #assembler = new Assembler(new ByteBudget(MAX_USAGE_BYTES));
  /** Completion tokens by choice, since the last count of all choices. */
  readonly #byChoice = new Map<number, number>();
  #textAtCount = 0;
  #textAtFinal: number | undefined;

  /** Usage reported so far; `undefined` if none. */
  get reported(): Json | undefined {
    return this.#usage.size === 0 ? undefined : (toJson(this.#usage) as Json);
  }

  add(usage: Json, { choice, isFinal, textBytes }: UsageReport): void {
    if (isTooDeep(usage)) return;
    const credible = withRest(onlyCredible(usage), false);
    this.#assembler.update(this.#usage, credible);
    const { promptTokens, completionTokens } = readEntry(credible);
    if (isFinal && promptTokens + completionTokens > 0) this.#textAtFinal = textBytes;
    if (completionTokens === 0) return;
    this.#textAtCount = textBytes;
    if (choice === undefined) this.#byChoice.clear();
    else this.#byChoice.set(choice, completionTokens);
  }

  /** Returns the usage of the whole response; estimates what the provider did not count. */
  count({ isComplete, textBytes, promptBytes }: Ending): CountedUsage {
    const reported = this.reported ?? {};
    const read = readEntry(reported);
    const prompted = read.promptTokens + read.cacheReadTokens + read.cacheCreationTokens;
    const counted = this.#byChoice.size > 1 ? sumOf(this.#byChoice) : read.completionTokens;
    if (prompted + counted === 0) return { basis: "none" };

    const isPromptCounted = prompted > 0 || promptBytes === 0;
    const uncountedBytes = counted === 0 ? textBytes : textBytes - this.#textAtCount;
    const isFinal = isComplete || this.#textAtFinal === textBytes;
    const promptTokens = isPromptCounted ? read.promptTokens : estimateTokens(promptBytes);
    const completionTokens = counted + estimateTokens(uncountedBytes);
    const isExact = isPromptCounted && uncountedBytes === 0 && isFinal && this.#byChoice.size < 2;
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

/** Token count members, such as `completion_tokens` or `promptTokenCount`. */
const TOKENS = /.tokens$|token_?count$/i;

/** Returns the credible members: token counts must be counts, and no number exceeds 2^53. */
export function onlyCredible(usage: Json): Json {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]) => {
      if (TOKENS.test(name)) return isCount(value) ? [[name, Number(value)]] : [];
      if (isJsonObject(value)) return [[name, onlyCredible(value)]];
      return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : [[name, value]];
    }),
  );
}

/** True for a count; some servers send strings. */
function isCount(value: unknown): boolean {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0;
}
