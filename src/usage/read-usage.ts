import { isJsonObject } from "../shared/json.ts";
import { readEntry, withRest } from "./read-entry.ts";
import { readService, serviceOf } from "./read-service.ts";
import { searchesIn } from "./read-units.ts";
import { unitsAndStated, unitsOf, type UnitCounts } from "./units.ts";
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
  const response = only !== undefined && usages.length === 1 ? readResponse(output) : undefined;
  return response === undefined ? usages : [completed(only!, response)];
}

/** The usage in a provider's own response; undefined for any other value. */
export function readResponse(output: unknown): PricedUsage | undefined {
  if (!isJsonObject(output)) return undefined;
  const said = [output["usage"], output["usageMetadata"], output["usage_metadata"]].find(isJsonObject);
  if (said === undefined)
    return isJsonObject(output["response"]) ? readResponse(output["response"]) : undefined;
  const isInput = Array.isArray(output["data"] ?? output["results"] ?? output["embeddings"]);
  const usage = readEntry(isInput ? withRest(said, isInput) : said);
  return {
    ...usage,
    units: together(usage.units, searchesIn(output)),
    service: usage.service ?? readService({ ...output, provider: undefined }),
  };
}

function together(one: UnitCounts | undefined, other: UnitCounts | undefined): UnitCounts | undefined {
  return other === undefined ? one : unitsOf(unitsAndStated, (unit) => one?.[unit] ?? other[unit] ?? 0);
}

/**
 * The SDKs that write summaries add cached tokens to the prompt, or leave out providers and units they do not know. A
 * response with other counts belongs to another call.
 */
function completed(usage: Usage, response: PricedUsage): Usage {
  const cached = response.cacheReadTokens + response.cacheCreationTokens;
  const gross =
    response.cacheOutsidePrompt && cached > 0 && usage.promptTokens === response.promptTokens + cached;
  const isTotal =
    usage.promptTokens + usage.completionTokens === 0 && usage.totalTokens === response.totalTokens;
  const isCounted =
    (gross || usage.promptTokens === response.promptTokens) &&
    usage.completionTokens === response.completionTokens;
  if (!isCounted && !isTotal) return usage;
  return {
    ...usage,
    ...(isTotal && { promptTokens: response.promptTokens, completionTokens: response.completionTokens }),
    cacheReadTokens: usage.cacheReadTokens || response.cacheReadTokens,
    cacheCreationTokens: usage.cacheCreationTokens || response.cacheCreationTokens,
    cacheOutsidePrompt: gross ? false : usage.cacheOutsidePrompt || response.cacheOutsidePrompt,
    units: together(usage.units, response.units),
    service: serviceOf(usage.service?.provider, [usage.service?.tier || (response.service?.tier ?? "")]),
  };
}
