import { isJsonObject } from "../../shared/json.ts";
import type { Json } from "../apis/draft.ts";

/** UTF-8 bytes per token of typical prompts, in natural languages and code. */
const BYTES_PER_TOKEN = 4;

/** Estimates tokens for completions without a provider count; such usage is marked `estimated`. */
export function estimateTokens(textBytes: number): number {
  return Math.ceil(textBytes / BYTES_PER_TOKEN);
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));
/** Prompt members of other APIs. */
const READ = setOf(
  "system instructions input prompt query documents contents content requests systemInstruction system_instruction",
);
/** Members whose values are not prompt text. */
const UNREAD = setOf(
  "type role id call_id data url image_url file_data encrypted_content signature cache_control media_type detail format " +
    "mimeType fileUri thoughtSignature model taskType",
);
/** Deeper values are not counted. */
const MAX_DEPTH = 16;

/**
 * Published token counts: a 1024 × 1024 image in tiles and any low-detail image (OpenAI, guides/images-vision); a 1000 ×
 * 1000 image and a PDF page (Anthropic, build-with-claude/vision and /pdf-support).
 */
const TOKENS = { tiles: 85 + 4 * 170, lowDetail: 85, megapixel: 1334, page: 1500 };
/** Audio: ten tokens per second (OpenAI, guides/realtime-costs) of 24 kHz 16-bit or 64 kbit/s; else one minute. */
const BYTES_PER_AUDIO_TOKEN = { wav: 4800, other: 800 };
const UNKNOWN_AUDIO_TOKENS = 600;

/** Token estimators of non-text content parts, by type. */
const MEDIA: ReadonlyMap<unknown, (part: Json) => number> = new Map([
  ...["image_url", "input_image", "computer_screenshot", "video_url"].map(
    (name) => [name, tiledImageTokens] as const,
  ),
  ["image", () => TOKENS.megapixel],
  ...["input_audio", "audio_url"].map((name) => [name, audioTokens] as const),
  ...["file", "input_file", "document"].map((name) => [name, () => TOKENS.page] as const),
]);

/** Returns the prompt size in bytes of text: messages, tool definitions, media and other prompt members. */
export function promptBytes(body: Json): number {
  const media = mediaTokens([body["messages"], body["input"]], MAX_DEPTH) * BYTES_PER_TOKEN;
  return [...READ].reduce((sum, name) => sum + readBytes(body[name], MAX_DEPTH), messagesBytes(body)) + media;
}

function mediaTokens(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth === 0) return 0;
  const tokens = isJsonObject(value) ? MEDIA.get(value["type"])?.(value) : undefined;
  return (
    tokens ?? Object.values(value).reduce((sum: number, inner) => sum + mediaTokens(inner, depth - 1), 0)
  );
}

function tiledImageTokens({ image_url: image, detail }: Json): number {
  const asked = isJsonObject(image) ? image["detail"] : detail;
  return asked === "low" ? TOKENS.lowDetail : TOKENS.tiles;
}

function audioTokens({ input_audio: audio }: Json): number {
  const { data, format } = isJsonObject(audio) ? audio : {};
  if (typeof data !== "string") return UNKNOWN_AUDIO_TOKENS;
  const bytes = Buffer.byteLength(data, "base64");
  return Math.ceil(bytes / BYTES_PER_AUDIO_TOKEN[format === "wav" ? "wav" : "other"]);
}

function readBytes(value: unknown, depth: number): number {
  // numbers are token ids
  if (typeof value === "number") return BYTES_PER_TOKEN;
  if (typeof value === "string" || depth === 0) return textBytes(value);
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + readBytes(item, depth - 1), 0);
  if (!isJsonObject(value)) return 0;
  const read = Object.entries(value).filter(([name]) => !UNREAD.has(name));
  return read.reduce((sum, [, inner]) => sum + readBytes(inner, depth - 1), 0);
}

function messagesBytes(body: Json): number {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  const tools = body["tools"];
  const toolBytes = tools === undefined ? 0 : Buffer.byteLength(JSON.stringify(tools));
  return messages.reduce((sum: number, message) => sum + messageBytes(message), toolBytes);
}

function messageBytes(message: unknown): number {
  if (!isJsonObject(message)) return 0;
  const { content, tool_calls: toolCalls } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const said = parts.reduce(
    (sum: number, part) => sum + textBytes(isJsonObject(part) ? part["text"] : part),
    0,
  );
  return said + (Array.isArray(toolCalls) ? Buffer.byteLength(JSON.stringify(toolCalls)) : 0);
}

function textBytes(value: unknown): number {
  return typeof value === "string" ? Buffer.byteLength(value) : 0;
}
