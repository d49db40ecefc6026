import { isJsonObject } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** Names of members that come in pieces to be joined, such as `content`, `reasoning_content`, `thinking_text`. */
const IN_PIECES =
  /(?:^|_)(?:content|text|refusal|reasoning|thinking|thought|summary|transcript|arguments|input|data)$/;

/** Those of most pieces, found faster. */
const USUAL: ReadonlySet<string> = new Set(["content", "reasoning_content", "reasoning", "arguments"]);

/** Whether the pieces of a member are joined. Of all others, the last value holds. */
export function isStreamedText(member: string): boolean {
  return USUAL.has(member) || IN_PIECES.test(member);
}

/** Members of a message with text that the model wrote. */
const WRITTEN: ReadonlySet<string> = new Set(["content", "refusal", "tool_calls", "function_call", "audio"]);
/** The same reasoning under several names: `reasoning`, `reasoning_content`, `reasoning_details`. */
const REASONING = /^(?:reasoning|thinking|thought)/;
/** Deeper text is not counted. */
const MAX_DEPTH = 16;

/** Bytes of text that the model wrote in a message, or in one delta of it. */
export function writtenBytes(message: Json): number {
  let bytes = 0;
  let reasoned = 0;
  for (const [member, value] of Object.entries(message)) {
    if (WRITTEN.has(member)) bytes += textBytes(value, member, MAX_DEPTH);
    else if (REASONING.test(member)) reasoned = Math.max(reasoned, textBytes(value, member, MAX_DEPTH));
  }
  return bytes + reasoned;
}

function textBytes(value: unknown, member: string, depth: number): number {
  if (typeof value === "string") return isWritten(member) ? Buffer.byteLength(value) : 0;
  if (depth === 0) return 0;
  if (Array.isArray(value))
    return value.reduce((sum: number, item) => sum + textBytes(item, member, depth - 1), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value).reduce((sum, [name, inner]) => sum + textBytes(inner, name, depth - 1), 0);
}

/** The name of a tool is written too; the data of sound or of an image is not text. */
function isWritten(member: string): boolean {
  return member !== "data" && (member === "name" || isStreamedText(member));
}
