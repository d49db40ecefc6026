import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { readParts } from "./read-part.ts";
import { readTurn } from "./read-turn.ts";
import { objectIn } from "./read-tools.ts";
import { first, type Json, type Turn } from "./turn.ts";

/** Request for a chat, and the API that it was made to. */
export interface ChatRequest {
  readonly api: "messages" | "responses" | "gemini";
  readonly members: Json;
}

/** Finds the request in the inputs of a call; `undefined` if it is none. The Weave SDKs and LangSmith nest it. */
export function findRequest(inputs: unknown, attributes: Json): ChatRequest | undefined {
  if (!isJsonObject(inputs)) return undefined;
  const nested = ["arg0", "arg1", "messages", "kwargs"].map((name) => inputs[name]).filter(isJsonObject);
  for (const members of [inputs, ...nested]) {
    const { messages, contents, input } = members;
    if (Array.isArray(messages) && messages.length > 0) return { api: "messages", members };
    if (contents != null) return { api: "gemini", members };
    if (typeof input === "string" || Array.isArray(input)) return { api: "responses", members };
    requireRecorded(messages);
  }
  // the AI SDK's own prompt
  const { prompt } = inputs;
  const isOfAiSdk = isJsonObject(attributes["ai"]) && typeof prompt === "string";
  const messages = [{ role: "user", content: prompt }];
  return isOfAiSdk ? { api: "messages", members: { ...inputs, messages } } : undefined;
}

/** Reads the messages of a request, with its instruction first. Throws `LeftOut`. */
export function readPrompt(request: ChatRequest, attributes: Json): readonly Turn[] {
  const { members } = request;
  if (hasHistoryElsewhere(members)) throw new LeftOut("history_elsewhere");
  return [...readInstruction(members), ...readHistory(request, attributes)];
}

/** True if a request continues a conversation that it does not contain. */
function hasHistoryElsewhere(members: Json): boolean {
  const config = objectIn(members, "config");
  const names = ["previous_response_id", "conversation", "cachedContent", "cached_content"];
  return (
    first(members, ...names) !== undefined ||
    first(config, ...names) !== undefined ||
    isJsonObject(members["prompt"])
  );
}

const INSTRUCTION = [
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "system_instructions",
];

function readInstruction(members: Json): readonly Turn[] {
  const found = first(members, ...INSTRUCTION) ?? first(objectIn(members, "config"), ...INSTRUCTION);
  const content = isJsonObject(found) && found["parts"] != null ? found["parts"] : found;
  const pieces = readParts(content === "" ? undefined : content);
  return pieces.length === 0 ? [] : [{ role: "system", pieces }];
}

function readHistory({ api, members }: ChatRequest, attributes: Json): readonly Turn[] {
  const { messages, contents, input } = members;
  if (api === "gemini") return readContents(contents);
  const asked = api === "messages" ? messages : input;
  if (typeof asked === "string") return [{ role: "user", pieces: readParts(asked) }];
  const list = Array.isArray(asked) ? (asked as unknown[]) : [];
  // OpenLLMetry writes lists of parts as text
  const hasTextParts = objectIn(objectIn(attributes, "llm"), "request")["type"] === "chat";
  return list
    .map((one) => readTurn(hasTextParts ? withParts(one) : one))
    .filter((turn) => turn !== undefined);
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
  if (list.every(isContent)) return list.map(readTurn).filter((turn) => turn !== undefined);
  if (list.some(isContent)) throw new LeftOut("unsupported_content");
  return [{ role: "user", pieces: readParts(contents) }];
}
