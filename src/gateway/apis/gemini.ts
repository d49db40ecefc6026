import { isJsonObject } from "../../shared/json.ts";
import { withRest } from "../../usage/read-entry.ts";
import { searchesIn } from "../../usage/read-units.ts";
import { googleErrorOf } from "../errors.ts";
import { addText, copyOf, keep } from "./content.ts";
import { Candidate, GeminiState, textOf, type Draft, type Json, type Members } from "./draft.ts";
import { credible } from "./count-usage.ts";
import type { ModelApi } from "./model-api.ts";
import { writtenBytes } from "./written-text.ts";

const MAX_CANDIDATES = 1024;
const MAX_PARTS = 4096;
const CANDIDATES: ReadonlySet<string> = new Set(["candidates"]);
const TEXT: ReadonlySet<string> = new Set(["text"]);
const VECTORS: ReadonlySet<string> = new Set(["embedding", "embeddings"]);

/** Gemini's `generateContent`. In a stream, each event reports the usage so far, and nothing marks the last one. */
export const geminiApi: Omit<ModelApi, "path" | "opName"> = {
  api: "gemini",
  isLast: () => false,
  errorEvent: (error) => Buffer.from(`data: ${JSON.stringify({ error: googleErrorOf(error) })}\n\n`),
  fold(draft, event, isBody) {
    const state = foldHead(draft, event, CANDIDATES);
    for (const [position, candidate] of candidatesIn(event).entries())
      foldCandidate(draft, state, candidate, position);
    const all = [...state.candidates.values()];
    const isOver = all.length === 0 ? draft.hasEnded || isBlocked(event) : all.every((one) => one.hasEnded);
    draft.hasEnded = isBody || isOver || draft.hasFailed;
    foldUsage(draft, state, event, false);
  },
  finish({ gemini, output, keepsContent }) {
    if (gemini === undefined || gemini.candidates.size === 0 || !keepsContent) return;
    const candidates = [...gemini.candidates].toSorted(([a], [b]) => a - b);
    output["candidates"] = candidates.map(([, { facts, parts }]) => {
      const content = isJsonObject(facts["content"]) ? { ...facts["content"], parts } : undefined;
      return { ...facts, content };
    });
  },
};

/** Embeddings, of which older models report no usage. */
export const geminiEmbeddingsApi: Omit<ModelApi, "path" | "opName"> = {
  ...geminiApi,
  fold(draft, event) {
    draft.hasEnded = true;
    foldUsage(draft, foldHead(draft, event, VECTORS), event, true);
  },
};

function foldHead(draft: Draft, event: Json, skipped: ReadonlySet<string>): GeminiState {
  draft.name(event["responseId"], event["modelVersion"]);
  if (draft.keepsContent) keep(draft, draft.output, event, skipped);
  return (draft.gemini ??= new GeminiState());
}

/** Returns the candidates; of an event too large to parse, one with its finish reason alone. */
function candidatesIn({ candidates, finishReason }: Json): readonly Json[] {
  if (Array.isArray(candidates)) return candidates.filter(isJsonObject);
  return finishReason === undefined ? [] : [{ finishReason }];
}

/** True for a prompt that was rejected, which has no candidates. */
function isBlocked({ promptFeedback }: Json): boolean {
  return isJsonObject(promptFeedback) && textOf(promptFeedback["blockReason"]) !== undefined;
}

function foldCandidate(draft: Draft, { candidates }: GeminiState, raw: Json, position: number): void {
  const index = typeof raw["index"] === "number" ? raw["index"] : position;
  const candidate = candidates.get(index) ?? new Candidate();
  if (candidates.size < MAX_CANDIDATES) candidates.set(index, candidate);
  candidate.hasEnded ||= textOf(raw["finishReason"]) !== undefined;
  const { parts: said, ...content } = isJsonObject(raw["content"]) ? raw["content"] : {};
  const parts = Array.isArray(said) ? said.filter(isJsonObject) : [];
  draft.textBytes += writtenBytes({ content: parts });
  if (!draft.keepsContent) return;
  keep(draft, candidate.facts, { ...raw, content });
  for (const part of parts) foldPart(draft, candidate.parts, part);
}

/** Text continues the text before it, unless only one of them is a thought. */
function foldPart(draft: Draft, parts: Members[], part: Json): void {
  const last = parts.at(-1);
  const { text, thought } = part;
  if (
    typeof text === "string" &&
    typeof last?.["text"] === "string" &&
    (last["thought"] === true) === (thought === true)
  ) {
    addText(draft, last, "text", text);
    keep(draft, last, part, TEXT);
  } else if (parts.length < MAX_PARTS) parts.push(copyOf(draft, part));
  else draft.isTruncated = true;
}

/** Each report covers all that was written so far. */
function foldUsage(draft: Draft, state: GeminiState, event: Json, isInput: boolean): void {
  const { usageMetadata } = event;
  const reported = { ...(isJsonObject(usageMetadata) ? credible(usageMetadata) : {}), ...searchesIn(event) };
  if (Object.keys(reported).length > 0) {
    state.usage = { ...state.usage, ...reported };
    draft.usage = withRest(state.usage, isInput);
  }
  if (isJsonObject(usageMetadata)) draft.countedBytes = draft.textBytes;
  draft.isCounted = draft.hasEnded && draft.countedBytes === draft.textBytes && draft.usage !== undefined;
}
