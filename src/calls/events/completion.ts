import { isJsonObject } from "../../shared/json.ts";

/**
 * Source of a completion's usage: a client, the gateway with the provider's counts, or the gateway's estimate because the
 * provider sent no counts. `elsewhere`: a better report of the same request counts, see `RequestReport`.
 */
export type UsageSource = (typeof USAGE_SOURCES)[number];
/** The column `usage_source` holds an index into this list. */
export const USAGE_SOURCES = ["client", "gateway", "estimate", "elsewhere"] as const;

/** No provider sends longer ids. */
const MAX_ID_LENGTH = 256;
/** Prefixes of completion ids. */
const COMPLETION = /^(?:chatcmpl|cmpl|chat|gen|msg|resp|embd|aitxt|aiobj)[-_]/;
/** Members that only the responses of models have. */
const MEMBERS = ["choices", "candidates", "usage", "usageMetadata", "model", "modelId", "modelVersion"];

/** Reads the provider's completion id from a call's output; '' if it is not a completion. */
export function completionIdOf(output: unknown): string {
  if (!isJsonObject(output)) return "";
  return [idOf(output), idOf(output["response"]), idOfGeneration(output)].find((id) => id !== "") ?? "";
}

function idOf(response: unknown): string {
  if (!isJsonObject(response)) return "";
  const id = storedId(response["id"] ?? response["responseId"]);
  if (COMPLETION.test(id) || MEMBERS.some((name) => response[name] != null)) return id;
  return "";
}

/** Reads LangChain's output: the id is in the response metadata or, in JavaScript, on the message. */
function idOfGeneration({ generations }: Readonly<Record<string, unknown>>): string {
  const generation: unknown = Array.isArray(generations) ? (generations as unknown[]).flat()[0] : undefined;
  const message = isJsonObject(generation) ? generation["message"] : undefined;
  const fields = isJsonObject(message) ? message["kwargs"] : undefined;
  if (!isJsonObject(fields)) return "";
  const metadata = fields["response_metadata"];
  const ids = [isJsonObject(metadata) ? metadata["id"] : undefined, fields["id"]].map(storedId);
  return ids.find((id) => COMPLETION.test(id)) ?? "";
}

/** LangChain's run id, which it sends without a provider's id; not unique, because chains repeat it. */
const RUN_ID = /^(?:lc_)?run-/;

/** Normalises an id for the column `completion_id`; '' if the value is not a provider's id. */
export function storedId(id: unknown): string {
  if (typeof id !== "string" || id.length > MAX_ID_LENGTH || RUN_ID.test(id)) return "";
  return id.toWellFormed();
}

const MIN_BITS = 40;
const MIN_DISTINCT = 5;

/**
 * True if an id has enough entropy (`MIN_BITS`) to identify one completion. Local servers often draw from a thousand
 * numbers (Ollama's `chatcmpl-123`), count, use the time, or repeat one id.
 */
export function isUniqueId(id: string): boolean {
  const characters = id.replace(/^[a-z]+[-_]/i, "").replaceAll(/[^0-9a-z]/gi, "");
  const kinds = [/\d/, /[a-z]/, /[A-Z]/].filter((kind) => kind.test(characters)).length;
  if (kinds < 2 || new Set(characters).size < MIN_DISTINCT) return false;
  return characters.length * Math.log2(alphabetOf(characters)) >= MIN_BITS;
}

function alphabetOf(characters: string): number {
  if (/^[0-9a-f]+$/i.test(characters)) return 16;
  return /[a-z]/.test(characters) && /[A-Z]/.test(characters) ? 62 : 36;
}
