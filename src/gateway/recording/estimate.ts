import { isJsonObject } from "../../shared/json.ts";

/** UTF-8 bytes per token of typical prompts, in natural languages and code. */
const BYTES_PER_TOKEN = 4;

/** An estimate for completions whose provider sent no count. It is always marked as one. */
export function estimateTokens(textBytes: number): number {
  return Math.ceil(textBytes / BYTES_PER_TOKEN);
}

/** Bytes of text in a chat request: messages and tool definitions, without images and other media. */
export function promptTextBytes(body: Readonly<Record<string, unknown>>): number {
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
