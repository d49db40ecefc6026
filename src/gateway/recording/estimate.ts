import { isJsonObject } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** UTF-8 bytes per token of typical prompts, in natural languages and code. */
const BYTES_PER_TOKEN = 4;

/** An estimate for completions whose provider sent no count. It is always marked as one. */
export function estimateTokens(textBytes: number): number {
  return Math.ceil(textBytes / BYTES_PER_TOKEN);
}

/** Members of other APIs with what a model reads. */
const READ = ["system", "instructions", "input", "prompt", "query", "documents"] as const;
/** Members whose values are no text that a model reads. */
const UNREAD: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "call_id",
  "data",
  "url",
  "image_url",
  "file_data",
  "encrypted_content",
  "signature",
  "cache_control",
  "media_type",
  "detail",
  "format",
]);
/** What is deeper is not counted. */
const MAX_DEPTH = 16;

/**
 * Published counts: of an image of 1024 × 1024 in tiles, and of any in low detail (OpenAI, guides/images-vision); of one of
 * 1000 × 1000, and of a page (Anthropic, build-with-claude/vision and /pdf-support).
 */
const TOKENS = { tiles: 85 + 4 * 170, lowDetail: 85, megapixel: 1334, page: 1500 };
/** Sound: ten a second (OpenAI, guides/realtime-costs), of 16-bit samples at 24 kHz or of 64 kbit/s; else a minute of it. */
const BYTES_PER_SOUND_TOKEN = { wav: 4800, other: 800 };
const UNKNOWN_SOUND_TOKENS = 600;

/** The tokens of parts that are no text, by their type. */
const MEDIA: ReadonlyMap<unknown, (part: Json) => number> = new Map([
  ...["image_url", "input_image", "computer_screenshot", "video_url"].map((name) => [name, tiled] as const),
  ["image", () => TOKENS.megapixel],
  ...["input_audio", "audio_url"].map((name) => [name, sound] as const),
  ...["file", "input_file", "document"].map((name) => [name, () => TOKENS.page] as const),
]);

/** What a model reads in a request, as bytes of text: messages, tool definitions, media, and what else is read. */
export function promptBytes(body: Json): number {
  const media = mediaTokens([body["messages"], body["input"]], MAX_DEPTH) * BYTES_PER_TOKEN;
  return READ.reduce((sum, name) => sum + readBytes(body[name], MAX_DEPTH), messagesBytes(body)) + media;
}

function mediaTokens(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth === 0) return 0;
  const tokens = isJsonObject(value) ? MEDIA.get(value["type"])?.(value) : undefined;
  return (
    tokens ?? Object.values(value).reduce((sum: number, inner) => sum + mediaTokens(inner, depth - 1), 0)
  );
}

function tiled({ image_url: image, detail }: Json): number {
  const asked = isJsonObject(image) ? image["detail"] : detail;
  return asked === "low" ? TOKENS.lowDetail : TOKENS.tiles;
}

function sound({ input_audio: audio }: Json): number {
  const { data, format } = isJsonObject(audio) ? audio : {};
  if (typeof data !== "string") return UNKNOWN_SOUND_TOKENS;
  const bytes = Buffer.byteLength(data, "base64");
  return Math.ceil(bytes / BYTES_PER_SOUND_TOKEN[format === "wav" ? "wav" : "other"]);
}

function readBytes(value: unknown, depth: number): number {
  // an array of numbers is a text as tokens
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
