import type { IncomingMessage } from "node:http";
import { withoutQueryKey } from "../relay/credentials.ts";
import { FREE } from "./endpoint-paths.ts";
import { choicesApi } from "./chat.ts";
import { modelApiSchemas as schemas } from "./endpoint-schemas.ts";
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

export const CHAT = modelApi(
  "/chat/completions",
  "openai.chat.completions.create",
  { ...choicesApi, wrapsErrors: true },
  schemas.createChatCompletion,
);
export const RESPONSES = modelApi(
  "/responses",
  "openai.responses.create",
  responsesApi,
  schemas.createResponse,
);

/** Metered endpoints. Endpoints with forms or audio have no schema. */
export const MODEL_APIS: readonly ModelApi[] = [
  CHAT,
  RESPONSES,
  modelApi("/responses/compact", "openai.responses.compact", responsesApi, schemas.compactResponse),
  modelApi("/messages", "anthropic.messages.create", messagesApi, schemas.createMessage),
  modelApi("/completions", "openai.completions.create", choicesApi, schemas.createCompletion),
  modelApi("/embeddings", "openai.embeddings.create", embeddingsApi, schemas.createEmbeddings),
  modelApi("/rerank", "rerank", rerankApi, schemas.rerank),
  modelApi("/audio/transcriptions", "openai.audio.transcriptions.create", transcriptsApi),
  modelApi("/audio/translations", "openai.audio.translations.create", transcriptsApi),
  modelApi("/audio/speech", "openai.audio.speech.create", speechApi),
  modelApi("/images/generations", "openai.images.generate", imagesApi, schemas.createImages),
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

const PATHS = [...MODEL_APIS.map(({ path }) => path), ...FREE];
const ENDPOINT = new RegExp(`^/v1(?:${PATHS.join("|")})(?=/?(?:[?]|$))`, "i");
const ENDPOINT_PATHS: ReadonlySet<string> = new Set(PATHS.map((path) => `/v1${path}`));

/** The escape of the colon between model and verb. */
const COLON = /^(\/v1(?:beta)?\/(?:models|tunedModels)\/[^/?]+)%3a(?=[a-z]+\/?(?:\?|$))/i;

/**
 * Returns a request target with the path of a model endpoint in lower case, because some upstreams take any case, and with
 * the colon of Gemini's API, without a key in its query.
 */
export function endpointTarget(
  { method, headers }: Pick<IncomingMessage, "method" | "headers">,
  target: string,
): string {
  if (ENDPOINT_PATHS.has(target)) return target;
  if (method !== "POST") return withoutQueryKey(headers, target);
  const plain = target.replace(ENDPOINT, (path) => path.toLowerCase()).replace(COLON, "$1:");
  return withoutQueryKey(headers, plain);
}
