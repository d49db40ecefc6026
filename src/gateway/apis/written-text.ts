import { isJsonObject } from "../../shared/json.ts";
import type { Json } from "./draft.ts";

/** Text members streamed in deltas, such as `content`, `reasoning_content`, `thinking_text`. */
const STREAMED =
  /(?:^|_)(?:content|text|refusal|reasoning|thinking|thought|summary|transcript|arguments|input|data)$/;

/** Most frequent names, checked first. */
const USUAL: ReadonlySet<string> = new Set(["content", "reasoning_content", "reasoning", "arguments"]);

/** True if deltas of this member are concatenated; otherwise the last value wins. */
export function isStreamedText(member: string): boolean {
  return USUAL.has(member) || STREAMED.test(member);
}

/** Message members with generated text. */
const WRITTEN: ReadonlySet<string> = new Set(["content", "refusal", "tool_calls", "function_call", "audio"]);
/** Reasoning members, which may repeat the same text: `reasoning`, `reasoning_content`, `reasoning_details`. */
const REASONING = /^(?:reasoning|thinking|thought)/;
/** Arguments of a tool are generated, whatever the names within. */
const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "input", "args"]);
/** Audio, images and encrypted text; what a tool found. */
const UNWRITTEN: ReadonlySet<string> = new Set(["data", "encrypted_content", "results"]);
const OF_TOOL = /_(?:result|output|list_tools)$/;
/** Deeper text is not counted. */
const MAX_DEPTH = 16;

/** Returns the generated text of a message or delta, in bytes. */
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
  if (UNWRITTEN.has(member)) return 0;
  if (typeof value === "string") return isWritten(member) ? Buffer.byteLength(value) : 0;
  if (depth === 0) return 0;
  if (Array.isArray(value))
    return value.reduce((sum: number, item) => sum + textBytes(item, member, depth - 1), 0);
  if (!isJsonObject(value) || OF_TOOL.test(String(value["type"]))) return 0;
  const within = ARGUMENTS.has(member) ? member : undefined;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + textBytes(one, within ?? name, depth - 1),
    0,
  );
}

/** True for generated text, including names of tools and their code. */
function isWritten(member: string): boolean {
  return member === "name" || member === "code" || ARGUMENTS.has(member) || isStreamedText(member);
}
