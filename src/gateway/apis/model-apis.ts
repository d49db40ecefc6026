import { choicesApi } from "./chat.ts";
import { modelApiSchemas } from "./endpoint-schemas.ts";
import { geminiApi, geminiEmbeddingsApi } from "./gemini.ts";
import { messagesApi } from "./messages.ts";
import type { ModelApi } from "./model-api.ts";
import { responsesApi } from "./responses.ts";
import { embeddingsApi, imagesApi, rerankApi, speechApi, transcriptsApi } from "./usage-once.ts";

const modelApi = (
  path: string,
  opName: string,
  api: Omit<ModelApi, "path" | "opName">,
  schema?: ModelApi["schema"],
): ModelApi => ({ ...api, path, opName, schema });

const {
  createChatCompletion,
  createResponse,
  compactResponse,
  createMessage,
  createCompletion,
  createEmbeddings,
  rerank,
  createImages,
} = modelApiSchemas;

export const CHAT = modelApi(
  "/chat/completions",
  "openai.chat.completions.create",
  { ...choicesApi, wrapsErrors: true },
  createChatCompletion,
);
export const RESPONSES = modelApi("/responses", "openai.responses.create", responsesApi, createResponse);

/** Metered endpoints. Endpoints with forms or audio have no schema. */
export const MODEL_APIS: readonly ModelApi[] = [
  CHAT,
  RESPONSES,
  modelApi("/responses/compact", "openai.responses.compact", responsesApi, compactResponse),
  modelApi("/messages", "anthropic.messages.create", messagesApi, createMessage),
  modelApi("/completions", "openai.completions.create", choicesApi, createCompletion),
  modelApi("/embeddings", "openai.embeddings.create", embeddingsApi, createEmbeddings),
  modelApi("/rerank", "rerank", rerankApi, rerank),
  modelApi("/audio/transcriptions", "openai.audio.transcriptions.create", transcriptsApi),
  modelApi("/audio/translations", "openai.audio.translations.create", transcriptsApi),
  modelApi("/audio/speech", "openai.audio.speech.create", speechApi),
  modelApi("/images/generations", "openai.images.generate", imagesApi, createImages),
  modelApi("/images/edits", "openai.images.edit", imagesApi),
  modelApi("/images/variations", "openai.images.createVariation", imagesApi),
];

const generate = "google.genai.models.generate_content";
const embed = "google.genai.models.embed_content";

/** Metered endpoints of Gemini's API by the verb of their path. */
export const GEMINI_APIS: ReadonlyMap<string, ModelApi> = new Map([
  ["generateContent", modelApi("/models/*:generateContent", generate, geminiApi)],
  ["streamGenerateContent", modelApi("/models/*:streamGenerateContent", generate, geminiApi)],
  ["embedContent", modelApi("/models/*:embedContent", embed, geminiEmbeddingsApi)],
  ["batchEmbedContents", modelApi("/models/*:batchEmbedContents", embed, geminiEmbeddingsApi)],
]);
