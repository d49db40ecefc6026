import { isJsonObject } from "../../shared/json.ts";

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
]);
/** Deeper text is not counted. */
const MAX_DEPTH = 16;

/** Bytes of text in a request: messages, tool definitions, and what else is read, without images and other media. */
export function promptTextBytes(body: Readonly<Record<string, unknown>>): number {
  return READ.reduce((sum, name) => sum + readBytes(body[name], MAX_DEPTH), messagesBytes(body));
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

function messagesBytes(body: Readonly<Record<string, unknown>>): number {
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
