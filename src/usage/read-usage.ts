import { isJsonObject } from "../shared/json.ts";
import { readEntry } from "./read-entry.ts";
import { readService, serviceOf } from "./read-service.ts";
import { searchesIn } from "./read-units.ts";
import { unitsOf, type UnitCounts } from "./units.ts";
import { isNothing, type PricedUsage, type Usage } from "./usage.ts";

/**
 * Reads `summary.usage`: one entry per LLM, with the LLM id unchanged. Entries without usage are dropped. If the output is
 * the provider's own response with the same counts, it supplies what the summary left out.
 */
export function readUsage(summary: unknown, output?: unknown): readonly Usage[] {
  const byLlm = isJsonObject(summary) ? summary["usage"] : undefined;
  if (!isJsonObject(byLlm)) return [];
  const usages = Object.entries(byLlm).flatMap(([llm, entry]) => {
    const usage = isJsonObject(entry) ? { llm, ...readEntry(entry) } : undefined;
    return usage === undefined || isNothing(usage) ? [] : [usage];
  });
  const [only] = usages;
  const answer = only !== undefined && usages.length === 1 ? readAnswer(output) : undefined;
  return answer === undefined ? usages : [completed(only!, answer)];
}

/** The usage in a provider's own response; undefined for any other value. */
export function readAnswer(output: unknown): PricedUsage | undefined {
  if (!isJsonObject(output)) return undefined;
  const said = [output["usage"], output["usageMetadata"], output["usage_metadata"]].find(isJsonObject);
  if (said === undefined)
    return isJsonObject(output["response"]) ? readAnswer(output["response"]) : undefined;
  const usage = readEntry(said);
  return {
    ...usage,
    units: together(usage.units, searchesIn(output)),
    service: usage.service ?? readService({ ...output, provider: undefined }),
  };
}

function together(one: UnitCounts | undefined, other: UnitCounts | undefined): UnitCounts | undefined {
  return other === undefined ? one : unitsOf((unit) => one?.[unit] ?? other[unit] ?? 0);
}

/**
 * The SDKs that write summaries add cached tokens to the prompt, or leave out providers and units they do not know. A
 * response with other counts belongs to another call.
 */
function completed(usage: Usage, answer: PricedUsage): Usage {
  const cached = answer.cacheReadTokens + answer.cacheCreationTokens;
  const gross =
    answer.cacheOutsidePrompt && cached > 0 && usage.promptTokens === answer.promptTokens + cached;
  const isSame =
    (gross || usage.promptTokens === answer.promptTokens) &&
    usage.completionTokens === answer.completionTokens;
  if (!isSame) return usage;
  return {
    ...usage,
    cacheReadTokens: usage.cacheReadTokens || answer.cacheReadTokens,
    cacheCreationTokens: usage.cacheCreationTokens || answer.cacheCreationTokens,
    cacheOutsidePrompt: gross ? false : usage.cacheOutsidePrompt || answer.cacheOutsidePrompt,
    units: together(usage.units, answer.units),
    service: serviceOf(usage.service?.provider, [usage.service?.tier || (answer.service?.tier ?? "")]),
  };
}
