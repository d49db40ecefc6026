import { isJsonObject } from "../shared/json.ts";

/**
 * Who reports a completion: a client, the gateway that passed it on, or the gateway where the provider sent no counts and
 * it had to estimate them.
 */
export type Reporter = (typeof REPORTERS)[number];
/** The column `reported_by` holds a place in this list. */
export const REPORTERS = ["client", "gateway", "estimate"] as const;

/** Longer ids are no provider's. */
const MAX_ID_LENGTH = 256;
/** What ids of completions begin with. */
const COMPLETION = /^(?:chatcmpl|cmpl|chat|gen|msg|resp|embd|aitxt|aiobj)[-_]/;
/** Members that answers of models have, and records of other things have not. */
const MARKS = ["choices", "candidates", "usage", "usageMetadata", "model", "modelId", "modelVersion"];

/** The provider's id of the completion that a call returned; '' when its output is something else. */
export function completionIdOf(output: unknown): string {
  if (!isJsonObject(output)) return "";
  const own = idOf(output);
  return own === "" && isJsonObject(output["response"]) ? idOf(output["response"]) : own;
}

function idOf(answer: Readonly<Record<string, unknown>>): string {
  const id = storedId(answer["id"] ?? answer["responseId"]);
  if (COMPLETION.test(id) || MARKS.some((mark) => answer[mark] != null)) return id;
  return "";
}

/** An id as the column `completion_id` holds it; '' for what is none. */
export function storedId(id: unknown): string {
  return typeof id === "string" && id.length <= MAX_ID_LENGTH ? id.toWellFormed() : "";
}

const MIN_BITS = 40;
const MIN_DISTINCT = 5;

/**
 * Whether an id can only be one completion's. Those of local servers can not: some draw them from a thousand numbers
 * (Ollama's `chatcmpl-123`), count, take the time, or send the same for all.
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
