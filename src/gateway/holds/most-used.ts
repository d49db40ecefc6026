import { isJsonObject } from "../../shared/json.ts";
import type { Unit } from "../../usage/units.ts";
import type { Json } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { promptSizeOf, textBytes, type PromptSize } from "./prompt-size.ts";
import { MAX_USES, positive, type ServerWork } from "./tools.ts";

/** A request to a metered endpoint. */
export interface Metered {
  readonly modelApi: ModelApi;
  /** The JSON object, or the fields of a form. */
  readonly body: Json;
  /** Length of a form, whose files are not read. */
  readonly formBytes?: number | undefined;
  /** From the body, or from Gemini's path. */
  readonly model: string;
  /** Provider of the upstream. */
  readonly provider: string | undefined;
  /** Microseconds since the epoch. */
  readonly startedAtUs: number;
}

/** The most that one model can use for a request. */
export interface MostUsed {
  /** Tokens, cached ones included. */
  readonly input: number;
  readonly inputKinds: readonly ("audio" | "image" | "video")[];
  /** Tokens of all choices. */
  readonly output: number;
  readonly units: Readonly<Partial<Record<Unit, number>>>;
}

/** The limits of a model, in tokens. */
export interface Limits {
  readonly input: number;
  readonly output: number;
  /** For one image. */
  readonly image: number;
  /** It also bills citations, reasoning and searches that no maximum of the request limits. */
  readonly researches: boolean;
}

/** Tokens of templates around a prompt: those of gpt-oss and reasoning models are below 100. */
const TEMPLATE_TOKENS = 100;
/** The lowest bit rate of Opus, 6 kbit/s (RFC 6716), and Gemini's tokens of a second (ai.google.dev/gemini-api/docs/audio). */
const AUDIO = { bytesPerSecond: 750, tokensPerSecond: 32 };
/** The most that a provider of transcriptions reads from a URL. */
const MAX_AUDIO_FILE_BYTES = 25 * 1024 * 1024;
/** Speech: a second for each byte, at 21 tokens (gpt-4o-mini-tts, priced as 1,250 tokens a minute), and a pause. */
const SPEECH = { tokensPerByte: 21, pause: 2_000 };
/** Cohere's searches: a query with up to 100 documents; a longer document counts as several. Source: cohere.com/pricing. */
const RERANK = { documents: 100, documentTokens: 500, minDocumentTokens: 50 };
const ALL_KINDS = ["audio", "image", "video"] as const;

/** Measures a request once for any model. */
export function mostUsedFor(
  { modelApi: { path }, body, formBytes }: Metered,
  work: ServerWork,
): (limits: Limits) => MostUsed {
  const size = promptSizeOf(body);
  size.isOpen ||= work.addsContext || formBytes !== undefined;
  const input = inputOf(size, work.toolPromptTokens);
  if (path.startsWith("/audio/trans")) return () => transcription(size, formBytes);
  if (path === "/rerank") return () => reranking(body, size.bytes);
  if (/^\/embeddings|embed\w+$/i.test(path)) return (limits) => ({ ...input(limits), output: 0, units: {} });
  if (path === "/audio/speech") {
    const output = SPEECH.pause + SPEECH.tokensPerByte * size.bytes;
    return (limits) => ({ ...input(limits), output, units: {} });
  }
  const { tokens, choices } = outputOf(path, body);
  // rejected predictions are billed as output
  const predicted = textBytes(body["prediction"]);
  return (limits) => {
    const output = ((tokens ?? limits.output) + predicted) * choices;
    if (!limits.researches) return { ...input(limits), output, units: work.units };
    const units = { ...work.units, web_searches: MAX_USES };
    return { ...input(limits), output: output + limits.output, units };
  };
}

function inputOf({ isOpen, ...size }: PromptSize, toolPromptTokens: number) {
  const audioTokens = audioSeconds(size.audioBytes) * AUDIO.tokensPerSecond;
  const tokens = TEMPLATE_TOKENS + size.bytes + toolPromptTokens + audioTokens;
  const kinds = ALL_KINDS.filter(
    (kind) => isOpen || (kind === "image" && size.images > 0) || (kind === "audio" && size.audioBytes > 0),
  );
  return (limits: Limits): Pick<MostUsed, "input" | "inputKinds"> => {
    const counted = tokens + size.images * limits.image;
    const input = isOpen || limits.researches ? Math.max(counted, limits.input) : counted;
    return { input, inputKinds: kinds };
  };
}

function audioSeconds(bytes: number): number {
  return Math.ceil(bytes / AUDIO.bytesPerSecond);
}

/** The most that all choices of a response can have together; undefined without a maximum. */
export function maxOutputTokens(path: string, body: Json): number | undefined {
  const { tokens, choices } = outputOf(path, body);
  return tokens === undefined ? undefined : tokens * choices;
}

/** Reads the larger of two maxima; `tokens` is undefined without any. */
function outputOf(
  path: string,
  body: Json,
): { readonly tokens: number | undefined; readonly choices: number } {
  const config = [body["generationConfig"], body["generation_config"]].find(isJsonObject) ?? {};
  const largest = (...values: readonly unknown[]): number | undefined =>
    values.map(positive).reduce((one, other) => (one === undefined ? other : Math.max(one, other ?? 0)));
  if (path.startsWith("/models/"))
    return {
      tokens: largest(config["maxOutputTokens"], config["max_output_tokens"]),
      choices: largest(config["candidateCount"], config["candidate_count"]) ?? 1,
    };
  const prompts = path === "/completions" ? promptsIn(body["prompt"]) : 1;
  const choices = prompts * (largest(body["n"], body["best_of"]) ?? 1);
  if (path.startsWith("/images/")) return { tokens: undefined, choices };
  if (path.startsWith("/responses")) return { tokens: largest(body["max_output_tokens"]), choices: 1 };
  return { tokens: largest(body["max_completion_tokens"], body["max_tokens"]), choices };
}

function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== "number" ? Math.max(1, prompt.length) : 1;
}

function transcription(size: PromptSize, formBytes: number | undefined): MostUsed {
  const seconds = audioSeconds(formBytes ?? Math.max(size.bytes + size.audioBytes, MAX_AUDIO_FILE_BYTES));
  const tokens = seconds * AUDIO.tokensPerSecond;
  return {
    input: TEMPLATE_TOKENS + size.bytes + tokens,
    inputKinds: ["audio"],
    output: tokens,
    units: { input_audio_seconds: seconds },
  };
}

/** Some providers bill searches, others the query once for each document, and the documents. */
function reranking({ query, documents: named }: Json, bytes: number): MostUsed {
  const documents = Array.isArray(named) ? named.map(textBytes) : [bytes];
  const queryBytes = textBytes(query);
  const length = Math.max(RERANK.minDocumentTokens, RERANK.documentTokens - queryBytes);
  const parts = documents.reduce((sum, one) => sum + Math.ceil(one / length), 0);
  return {
    input: TEMPLATE_TOKENS + bytes + queryBytes * documents.length,
    inputKinds: [],
    output: 0,
    units: { rerank_searches: Math.max(1, Math.ceil(parts / RERANK.documents)) },
  };
}
