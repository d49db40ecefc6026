import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { readParts } from "./read-part.ts";
import { readTurn } from "./read-turn.ts";
import { first, objectIn, type Json, type Turn } from "./turn.ts";

/** Request for a chat. */
export interface ChatRequest {
  readonly members: Json;
  /** A text, or a list of messages, items, or contents of Gemini. */
  readonly asked: unknown;
}

/** Finds the request in the inputs of a call; `undefined` if it is none. The Weave SDKs and LangSmith nest it. */
export function findRequest(inputs: unknown, attributes: Json): ChatRequest | undefined {
  if (!isJsonObject(inputs)) return undefined;
  const nested = ["arg0", "arg1", "messages", "kwargs"].map((name) => inputs[name]).filter(isJsonObject);
  for (const members of [inputs, ...nested]) {
    const { messages, contents, input } = members;
    if (Array.isArray(messages) && messages.length > 0) return { members, asked: messages };
    if (contents != null) return { members, asked: contents };
    if (typeof input === "string" || Array.isArray(input)) return { members, asked: input };
    requireRecorded(messages);
  }
  // the AI SDK's own prompt
  const { prompt } = inputs;
  const isOfAiSdk = isJsonObject(attributes["ai"]) && typeof prompt === "string";
  return isOfAiSdk ? { members: inputs, asked: prompt } : undefined;
}

/** Members of a request that continues a conversation which it does not contain. */
const HISTORY = ["previous_response_id", "conversation", "cachedContent", "cached_content"];
const INSTRUCTION = [
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "system_instructions",
];

/** Reads the messages of a request, with its instruction first. Throws `LeftOut`. */
export function readPrompt({ members, asked }: ChatRequest, attributes: Json): readonly Turn[] {
  const config = objectIn(members, "config");
  const history = first(members, ...HISTORY) ?? first(config, ...HISTORY);
  if (history !== undefined || isJsonObject(members["prompt"])) throw new LeftOut("history_elsewhere");
  const instruction = first(members, ...INSTRUCTION) ?? first(config, ...INSTRUCTION);
  const parts = isJsonObject(instruction) ? (instruction["parts"] ?? instruction) : instruction;
  const pieces = readParts(parts === "" ? undefined : parts);
  const turns = asked === members["contents"] ? readContents(asked) : readMessages(asked, attributes);
  return pieces.length === 0 ? turns : [{ role: "system", pieces }, ...turns];
}

function readMessages(asked: unknown, attributes: Json): readonly Turn[] {
  if (!Array.isArray(asked)) return [{ role: "user", pieces: readParts(asked) }];
  // OpenLLMetry writes lists of parts as text
  const hasTextParts = objectIn(attributes, "llm", "request")["type"] === "chat";
  return asked.flatMap((one: unknown) => readTurn(hasTextParts ? withParts(one) : one) ?? []);
}

function withParts(message: unknown): unknown {
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (typeof content !== "string" || !content.startsWith("[{")) return message;
  const parts = parseOrUndefined(content);
  const isParts = Array.isArray(parts) && parts.every((part) => isJsonObject(part) && "type" in part);
  return isParts ? { ...(message as Json), content: parts } : message;
}

/** Contents of Gemini; its SDKs also take a text or parts alone. */
function readContents(contents: unknown): readonly Turn[] {
  const isContent = (one: unknown): boolean => isJsonObject(one) && Array.isArray(one["parts"]);
  const list: readonly unknown[] = Array.isArray(contents) ? contents : [contents];
  if (list.every(isContent)) return list.flatMap((one) => readTurn(one) ?? []);
  if (list.some(isContent)) throw new LeftOut("unsupported_content");
  return [{ role: "user", pieces: readParts(contents) }];
}
