import { withRest } from "../../usage/read-entry.ts";
import { imageEntry, speechEntry } from "../../usage/response-entries.ts";
import { errorFrame } from "../error-envelope.ts";
import { ChatReader } from "../recording/chat-reader.ts";
import { ApiStream, type ApiStreamOptions } from "../stream/api-stream.ts";
import {
  COMPLETION,
  EVENT,
  IMAGES,
  MESSAGE_EVENT,
  RESPONSE_EVENT,
  VECTORS,
} from "../stream/capture-rules.ts";
import { ChatStream } from "../stream/chat-stream.ts";
import type { ModelApi } from "./model-api.ts";
import { modelApiSchemas } from "./endpoint-schemas.ts";
import { messagesFrame, responsesFrame } from "./error-frames.ts";
import { MessagesReader, endStateOfMessage } from "./messages-reader.ts";
import { PlainReader, type PlainResponses } from "./plain-reader.ts";
import { isLastOfResponse, ResponsesReader } from "./responses-reader.ts";

type Kind = Omit<ModelApi, "path" | "opName" | "schema">;

const openai = { api: "openai", asksForUsage: false, wrapsErrors: false } as const;

/** Responses with choices: chat completions and legacy completions. */
const choices: Kind = {
  api: "openai",
  rules: COMPLETION,
  asksForUsage: true,
  wrapsErrors: false,
  openReader: (options) => new ChatReader(options),
  openStream: (options) => new ChatStream(options),
};

const responses: Kind = {
  ...openai,
  rules: RESPONSE_EVENT,
  openReader: (options) => new ResponsesReader(options),
  openStream: ({ onEvent }) =>
    new ApiStream({
      rules: RESPONSE_EVENT,
      endState: ({ chunk }) => (isLastOfResponse(chunk) ? "last" : undefined),
      frame: responsesFrame,
      onEvent,
    }),
};

const messages: Kind = {
  api: "anthropic",
  asksForUsage: false,
  wrapsErrors: false,
  rules: MESSAGE_EVENT,
  openReader: (options) => new MessagesReader(options),
  openStream: ({ onEvent }) =>
    new ApiStream({
      rules: MESSAGE_EVENT,
      endState: ({ chunk }) => endStateOfMessage(chunk),
      frame: messagesFrame,
      onEvent,
    }),
};

function plain(rules: ModelApi["rules"], options: PlainResponses): Kind {
  const endState: ApiStreamOptions["endState"] = ({ chunk, kind }) =>
    kind === "done" || options.lastEvents.has(String(chunk?.["type"])) ? "last" : undefined;
  return {
    ...openai,
    rules,
    openReader: (reader) => new PlainReader(options, reader),
    openStream: ({ onEvent }) => new ApiStream({ rules, endState, frame: errorFrame, onEvent }),
  };
}

const NONE: ReadonlySet<string> = new Set();
const same: PlainResponses["entryOf"] = (usage) => usage;
const input: PlainResponses["entryOf"] = (usage) => withRest(usage, true);

const embeddings = plain(VECTORS, {
  lastEvents: NONE,
  omitted: new Set(["data", "embeddings"]),
  entryOf: input,
  isEstimated: true,
});
const rerank = plain(EVENT, { lastEvents: NONE, omitted: NONE, entryOf: input, isEstimated: false });
const transcripts = plain(EVENT, {
  lastEvents: new Set(["transcript.text.done"]),
  omitted: new Set(["words", "segments", "logprobs"]),
  entryOf: same,
  isEstimated: false,
});
const speech = plain(EVENT, {
  lastEvents: new Set(["speech.audio.done"]),
  omitted: new Set(["audio"]),
  entryOf: speechEntry,
  isEstimated: false,
});
const images = plain(IMAGES, {
  lastEvents: new Set(["image_generation.completed", "image_edit.completed"]),
  omitted: new Set(["b64_json"]),
  entryOf: imageEntry,
  isEstimated: false,
});

const modelApi = (path: string, opName: string, kind: Kind, schema?: ModelApi["schema"]): ModelApi => ({
  path,
  opName,
  schema,
  ...kind,
});

export const CHAT = modelApi(
  "/chat/completions",
  "openai.chat.completions.create",
  { ...choices, wrapsErrors: true },
  modelApiSchemas.createChatCompletion,
);

export const RESPONSES = modelApi(
  "/responses",
  "openai.responses.create",
  responses,
  modelApiSchemas.createResponse,
);

/** Metered endpoints. Endpoints with forms or audio have no schema. */
export const MODEL_APIS: readonly ModelApi[] = [
  CHAT,
  RESPONSES,
  modelApi("/responses/compact", "openai.responses.compact", responses, modelApiSchemas.compactResponse),
  modelApi("/messages", "anthropic.messages.create", messages, modelApiSchemas.createMessage),
  modelApi("/completions", "openai.completions.create", choices, modelApiSchemas.createCompletion),
  modelApi("/embeddings", "openai.embeddings.create", embeddings, modelApiSchemas.createEmbeddings),
  modelApi("/rerank", "rerank", rerank, modelApiSchemas.rerank),
  modelApi("/audio/transcriptions", "openai.audio.transcriptions.create", transcripts),
  modelApi("/audio/translations", "openai.audio.translations.create", transcripts),
  modelApi("/audio/speech", "openai.audio.speech.create", speech),
  modelApi("/images/generations", "openai.images.generate", images, modelApiSchemas.createImages),
  modelApi("/images/edits", "openai.images.edit", images),
  modelApi("/images/variations", "openai.images.createVariation", images),
];
