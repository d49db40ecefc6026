import { isJsonObject } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import { estimateTokens } from "../recording/estimate.ts";
import type { Draft, Json } from "./draft.ts";
import type { ModelApi } from "./model-api.ts";

/** Usage of a response by its accuracy. */
export interface CountedUsage {
  readonly basis: "exact" | "partial" | "estimated" | "none";
  /** Usage of the response's model in the provider's format; `undefined`: none. */
  readonly usage: Json | undefined;
}

export interface Relayed {
  readonly isComplete: boolean;
  /** Prompt size in bytes of text. */
  readonly promptBytes: number;
  /** Response size in bytes of text; more than that of the draft if it could not be read. */
  readonly textBytes: number;
  /** The most that the request lets all choices have together; undefined without a maximum. */
  readonly maxOutputTokens: number | undefined;
  readonly isError: boolean;
}

const NOTHING: CountedUsage = { basis: "none", usage: undefined };

/** Returns the provider's count, with estimates of what it did not count. */
export function countUsage(draft: Draft, api: ModelApi, relayed: Relayed): CountedUsage {
  const reported = draft.usage ?? {};
  const read = readEntry(reported);
  const prompted = read.promptTokens + read.cacheReadTokens + read.cacheCreationTokens;
  const isSilent = prompted + read.completionTokens === 0;
  if (isSilent && !(draft.isPromptCounted && !draft.isCounted)) return uncounted(draft, api, relayed);

  const { promptBytes, isComplete, maxOutputTokens = Infinity } = relayed;
  const isPromptCounted =
    prompted > 0 || promptBytes === 0 || draft.isPromptCounted || api.isNeverEstimated === true;
  const uncountedBytes = draft.textBytes - (read.completionTokens === 0 ? 0 : draft.countedBytes);
  const left = Math.max(0, maxOutputTokens - read.completionTokens);
  const estimated = api.isNeverEstimated === true ? 0 : Math.min(left, estimateTokens(uncountedBytes));
  const completionTokens = read.completionTokens + estimated;
  const promptTokens = isPromptCounted ? read.promptTokens : estimateTokens(promptBytes);
  const sum = promptTokens + completionTokens;
  const isWhole = (isComplete && draft.choices?.hasMixedCounts !== true) || draft.isCounted;
  if (isPromptCounted && estimated === 0 && isWhole && (draft.message === undefined || draft.isCounted))
    return { basis: "exact", usage: read.totalTokens < sum ? { ...reported, total_tokens: sum } : reported };
  const counts = { completion_tokens: completionTokens, total_tokens: sum };
  const prompt = isPromptCounted ? {} : { prompt_tokens: promptTokens };
  return { basis: "partial", usage: { ...reported, ...prompt, ...counts } };
}

/** Without a count of tokens, other units may be reported: searches, pages, seconds. */
function uncounted(draft: Draft, api: ModelApi, relayed: Relayed): CountedUsage {
  const { usage } = draft;
  const isUsed = usage !== undefined && hasNonTokenUnits(readEntry(usage).units);
  if (api.isNeverEstimated === true) return isUsed ? { basis: "exact", usage } : NOTHING;
  const isNone =
    relayed.isError && relayed.textBytes === 0 && !isUsed && Object.keys(draft.others).length === 0;
  if (isNone) return NOTHING;
  const { promptBytes, textBytes, maxOutputTokens = Infinity } = relayed;
  const [prompt, completion] = [
    estimateTokens(promptBytes),
    Math.min(maxOutputTokens, estimateTokens(textBytes)),
  ];
  const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return { basis: "estimated", usage: { ...usage, ...counts } };
}

/** Token count members, such as `completion_tokens` or `promptTokenCount`. */
const TOKENS = /.tokens$|token_?count$/i;

/** Returns the credible members: token counts must be counts, and no number exceeds 2^53. */
export function credible(usage: Json): Json {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]) => {
      if (TOKENS.test(name)) return isCount(value) ? [[name, Number(value)]] : [];
      if (isJsonObject(value)) return [[name, credible(value)]];
      return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : [[name, value]];
    }),
  );
}

/** True for a count; some servers send strings. */
function isCount(value: unknown): boolean {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0;
}
