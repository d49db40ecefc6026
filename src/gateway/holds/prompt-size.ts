import { isJsonObject } from "../../shared/json.ts";
import type { Json } from "../apis/draft.ts";

/** The contents of a prompt, counted without a tokenizer. */
export interface PromptSize {
  /** UTF-8 bytes of text, keys and punctuation, without media; an id of a token counts 1. */
  bytes: number;
  images: number;
  /** Bytes of audio, decoded. */
  audioBytes: number;
  /** True with documents, video, and files named by id or URL: the request does not tell their length. */
  isOpen: boolean;
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));
/** Members of a request whose parts may be media. */
const PROMPTS = setOf(
  "messages input prompt contents content requests documents images system systemInstruction system_instruction",
);
/** Members of such a part with parts of their own. All others are text: a tool's arguments and result, for example. */
const PARTS = setOf("content parts output functionResponse function_response");
const FILES = setOf(
  "file file_id file_data file_url file_uri fileUri fileData audio_url video_url audio video",
);
/** Quotes, a comma or a colon, and a blank. */
const PUNCTUATION = 4;
/** The longest text of a number, or of another scalar. */
const SCALAR = 24;

export function promptSizeOf(body: Json): PromptSize {
  const size: PromptSize = { bytes: 0, images: 0, audioBytes: 0, isOpen: false };
  for (const name in body) {
    if (PROMPTS.has(name)) addParts(body[name], size);
    else size.bytes += textBytes(body[name]);
    size.bytes += textBytes(name);
  }
  return size;
}

/** Returns the UTF-8 bytes of a value's JSON, or a few more. A token has at least one, unless a tokenizer normalizes to NFKC. */
export function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) + PUNCTUATION;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + textBytes(item), PUNCTUATION);
  if (!isJsonObject(value)) return value === undefined ? 0 : SCALAR;
  let bytes = PUNCTUATION;
  for (const name in value) bytes += Buffer.byteLength(name) + PUNCTUATION + textBytes(value[name]);
  return bytes;
}

function addParts(value: unknown, size: PromptSize): void {
  if (typeof value === "number") size.bytes++;
  else if (Array.isArray(value)) for (const item of value) addParts(item, size);
  else if (isJsonObject(value)) for (const name in value) addMember(value, name, size);
  else size.bytes += textBytes(value);
}

function addMember(part: Json, name: string, size: PromptSize): void {
  const value = part[name];
  size.bytes += Buffer.byteLength(name) + PUNCTUATION;
  if (value === null) return;
  if (PARTS.has(name)) addParts(value, size);
  else if (name === "image_url" || (name === "result" && part["type"] === "image_generation_call"))
    size.images++;
  else if (name === "input_audio" && isJsonObject(value)) addAudio(value["data"], size);
  else if ((name === "inlineData" || name === "inline_data") && isJsonObject(value))
    addInline(value["mimeType"] ?? value["mime_type"], value["data"], size);
  else if (name === "source" && isJsonObject(value)) addSource(part, value, size);
  else if (FILES.has(name) || (name === "id" && part["type"] === "item_reference")) size.isOpen = true;
  else size.bytes += textBytes(value);
}

/** Anthropic's images and documents. */
function addSource({ type: part }: Json, source: Json, size: PromptSize): void {
  const { type, media_type: media, data, content } = source;
  if (type === "text") size.bytes += textBytes(data);
  else if (type === "content") addParts(content, size);
  else if (type === "base64") addInline(media, data, size);
  else if (type === "url" && part === "image") size.images++;
  else size.isOpen = true;
}

function addInline(media: unknown, data: unknown, size: PromptSize): void {
  const [kind] = String(media).split("/", 1);
  if (kind === "image") size.images++;
  else if (kind === "audio") addAudio(data, size);
  else size.isOpen = true;
}

function addAudio(data: unknown, size: PromptSize): void {
  if (typeof data === "string") size.audioBytes += Buffer.byteLength(data, "base64");
  else size.isOpen = true;
}
