import { isJsonObject } from "../shared/json.ts";
import { statedTicksIn, statedUnitsOf } from "./stated-cost.ts";
import { toCount } from "./to-count.ts";
import { addUnits, unitNames, unitsOf, type PricedUnits, type Unit, type UnitCounts } from "./units.ts";

type Json = Readonly<Record<string, unknown>>;

/** Fields in which providers report counts by kind: an object of counts, or Gemini's list of modalities. */
export const INPUT_DETAILS = [
  "prompt_tokens_details",
  "prompt_token_details",
  "input_tokens_details",
  "input_token_details",
  "promptTokensDetails",
  "promptTokenDetails",
] as const;
const TOOL_DETAILS = ["toolUsePromptTokensDetails", "tool_use_prompt_tokens_details"] as const;
const CACHE_DETAILS = ["cacheTokensDetails", "cache_tokens_details"] as const;
const OUTPUT_DETAILS = [
  "completion_tokens_details",
  "output_tokens_details",
  "output_token_details",
  "candidatesTokensDetails",
  "candidates_tokens_details",
  "responseTokensDetails",
  "response_tokens_details",
] as const;

/** The details under the first of these names that an entry has. */
export function detailsOf(entry: Json, names: readonly string[]): unknown {
  return names.map((name) => entry[name]).find((details) => details != null);
}

/** The count of one kind in such details; LangChain's names are the kinds alone. */
function ofKind(details: unknown, kind: "audio" | "image" | "video"): number {
  if (isJsonObject(details)) return toCount(details[`${kind}_tokens`] ?? details[kind]);
  if (!Array.isArray(details)) return 0;
  return details.filter(isJsonObject).reduce((sum, part) => {
    const modality = String(part["modality"]).toLowerCase();
    const isOfKind = modality === kind || (kind === "image" && modality === "document");
    return isOfKind ? sum + toCount(part["tokenCount"] ?? part["token_count"]) : sum;
  }, 0);
}

function within(entry: Json, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), entry);
}

/** Fields that count plain tokens only. */
const PLAIN = new Set([
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "input_tokens",
  "output_tokens",
]);

/** The units besides plain tokens that a usage entry reports, in its provider's format or with our own names, and its stated cost. */
export function readUnits(entry: Json): UnitCounts | undefined {
  if (Object.keys(entry).every((name) => PLAIN.has(name))) return undefined;
  const input = detailsOf(entry, INPUT_DETAILS);
  const tool = detailsOf(entry, TOOL_DETAILS);
  const output = detailsOf(entry, OUTPUT_DETAILS);
  const cached = detailsOf(entry, CACHE_DETAILS) ?? within({ input }, "input", "cached_tokens_details");
  const researches = entry["citation_tokens"] != null;
  const stated: Partial<Record<Unit, unknown>> = {
    cache_write_1h_tokens:
      within(entry, "cache_creation", "ephemeral_1h_input_tokens") ??
      within({ input }, "input", "cache_creation", "ephemeral_1h_input_tokens") ??
      within({ input }, "input", "ephemeral_1h_input_tokens") ??
      bedrockHour(entry),
    cache_audio_read_tokens: ofKind(cached, "audio"),
    cache_image_read_tokens: ofKind(cached, "image"),
    input_audio_tokens: ofKind(input, "audio") + ofKind(tool, "audio"),
    input_image_tokens: ofKind(input, "image") + ofKind(tool, "image"),
    input_video_tokens: ofKind(input, "video") + ofKind(tool, "video"),
    output_audio_tokens: ofKind(output, "audio"),
    output_image_tokens: ofKind(output, "image"),
    output_video_tokens: ofKind(output, "video"),
    output_reasoning_tokens: researches ? entry["reasoning_tokens"] : undefined,
    output_citation_tokens: entry["citation_tokens"],
    web_searches:
      within(entry, "server_tool_use", "web_search_requests") ??
      within(entry, "server_side_tool_usage_details", "web_search_calls") ??
      (researches ? entry["num_search_queries"] : undefined),
    social_searches: within(entry, "server_side_tool_usage_details", "x_search_calls"),
    storage_searches: within(entry, "server_side_tool_usage_details", "document_search_calls"),
    code_executions: within(entry, "server_side_tool_usage_details", "code_interpreter_calls"),
    rerank_searches: within(entry, "billed_units", "search_units") ?? entry["search_units"],
    input_audio_seconds: entry["type"] === "duration" ? begun(entry["seconds"]) : undefined,
    input_document_pages: entry["pages_processed"],
  };
  const used = unitsOf(unitNames, (unit) => toCount(entry[unit] ?? stated[unit]));
  return addUnits(used, statedUnitsOf(statedTicksIn(entry)));
}

/** Part of a second is charged as a whole second. */
function begun(seconds: unknown): unknown {
  return typeof seconds === "number" ? Math.ceil(seconds) : seconds;
}

/** Bedrock's Converse reports how long each part of the cache is kept. */
function bedrockHour(entry: Json): number {
  const details = entry["cacheDetails"] ?? entry["cache_details"];
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isJsonObject)
    .reduce((sum, part) => (part["ttl"] === "1h" ? sum + toCount(part["inputTokens"]) : sum), 0);
}

/** The searches of a response, which OpenAI's Responses API and Gemini report in its output, not in its usage. */
export function searchesIn(response: Json): PricedUnits | undefined {
  const items = Array.isArray(response["output"]) ? response["output"].filter(isJsonObject) : [];
  const count = (type: string): number =>
    items.filter((item) => item["type"] === type && isSearch(item["action"])).length;
  const made: PricedUnits = {
    web_searches: count("web_search_call") + groundingSearches(response),
    storage_searches: count("file_search_call"),
  };
  return unitsOf(unitNames, (unit) => made[unit] ?? 0);
}

/** Before Gemini 3, a prompt with any search is charged, since then each query. Source: ai.google.dev/gemini-api/docs/pricing. */
function groundingSearches({ candidates, modelVersion }: Json): number {
  const list = Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
  const queries = list.flatMap((one) => within(one, "groundingMetadata", "webSearchQueries") ?? []);
  return /gemini-[12]\b/.test(String(modelVersion)) ? Math.min(queries.length, 1) : queries.length;
}

/** Opening a found page, or searching within it, does not count as a search. */
function isSearch(action: unknown): boolean {
  return !isJsonObject(action) || action["type"] == null || action["type"] === "search";
}
