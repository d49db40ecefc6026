import { isJsonObject } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { first, nestedIn, textIn, type Json, type Piece } from "./turn.ts";

/** Reads the content of a message: a text, a part, or a list of them. Thoughts are dropped. Throws `LeftOut`. */
export function readParts(content: unknown): readonly Piece[] {
  if (content == null) return [];
  if (typeof content === "string") return [textPiece(content)];
  if (Array.isArray(content)) return content.flatMap(readParts);
  if (isJsonObject(content)) return readPart(content);
  throw new LeftOut("unsupported_content");
}

function textPiece(text: unknown): Piece {
  if (typeof text !== "string") throw new LeftOut("unsupported_content");
  requireRecorded(text);
  return { kind: "text", text };
}

type Reader = (part: Json) => Piece;

const readText: Reader = (part) => textPiece(first(part, "text", "content"));

const readRefusal: Reader = ({ refusal }) => {
  if (typeof refusal !== "string") throw new LeftOut("unsupported_content");
  return { kind: "refusal", text: refusal };
};

/** Keeps a part of OpenAI's chat as it is; a file of the AI SDK can be an image. */
const readFile: Reader = (part) => {
  const name = String(part["type"]);
  const file = part[name];
  return isJsonObject(file) ? { kind: "media", part: { type: name, [name]: file } } : readImage(part);
};

const IMAGES = ["image_url", "source", "image", "inlineData", "inline_data", "fileData", "file_data"];

/** Reads an image of any format: an address, or bytes with their type. */
function readImage(part: Json): Piece {
  const given = first(part, ...IMAGES);
  // OpenInference nests it twice
  const image = isJsonObject(given) ? nestedIn(given, "image") : { data: given, ...part };
  const type = textIn(image, "media_type", "mimeType", "mime_type", "mediaType");
  const address = textIn(image, "url", "fileUri", "file_uri", "uri");
  const bytes = textIn(image, "data", "content");
  const isImage = /^(?:input_)?image/.test(type ?? textIn(part, "modality", "type") ?? "");
  const isAddress = /^(?:https?|data):/.test(bytes ?? "");
  const url = address ?? (isAddress ? bytes : type && bytes && `data:${type};base64,${bytes}`);
  if (url === undefined || !isImage) throw new LeftOut("unsupported_content");
  const { detail } = image;
  return {
    kind: "media",
    part: { type: "image_url", image_url: { url, ...(detail != null && { detail }) } },
  };
}

const CALLS = ["functionCall", "function_call"];
const RESULTS = ["functionResponse", "function_response"];
/** Readers by the type of a part; parts of Gemini have none, but a member with its name. */
const READERS: ReadonlyMap<unknown, Reader> = new Map([
  ...["text", "input_text", "output_text"].map((name) => [name, readText] as const),
  ["refusal", readRefusal],
  ...["input_image", "blob", "uri", ...IMAGES].map((name) => [name, readImage] as const),
  ...["input_audio", "file"].map((name) => [name, readFile] as const),
  ...["tool_use", "tool_call", "tool-call", "function", ...CALLS].map((name) => [name, readCall] as const),
  ...["tool_result", "tool-result", "tool_call_response", ...RESULTS].map(
    (name) => [name, readResult] as const,
  ),
]);
const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

function readPart(part: Json): readonly Piece[] {
  // OpenInference
  if (isJsonObject(part["message_content"])) return readPart(part["message_content"]);
  const type = part["type"] ?? Object.keys(part).find((name) => part[name] != null && READERS.has(name));
  if (THOUGHTS.has(type) || (type === "text" && part["thought"] === true)) return [];
  const reader = READERS.get(type);
  if (reader === undefined) throw new LeftOut("unsupported_content");
  return [reader(part)];
}

/** Reads a tool call of any format. */
export function readCall(call: Json): Piece {
  const outer = nestedIn(call, "tool_call");
  const inner = nestedIn(outer, "function", ...CALLS);
  const name = textIn(inner, "name", "toolName");
  if (name === undefined) throw new LeftOut("unsupported_content");
  const id = textIn(outer, "call_id", "toolCallId", "id") ?? textIn(inner, "id");
  return { kind: "call", id, name, args: toText(first(inner, "arguments", "input", "args") ?? {}) };
}

/** Reads the result of a tool. */
export function readResult(part: Json): Piece {
  const result = nestedIn(part, ...RESULTS);
  // images of Gemini
  if (Array.isArray(result["parts"])) throw new LeftOut("unsupported_content");
  const id = textIn(result, "tool_use_id", "call_id", "toolCallId", "tool_call_id", "id");
  const pieces = resultPieces(part["type"], first(result, "content", "output", "response", "result"));
  return { kind: "result", id, name: textIn(result, "toolName", "name"), pieces };
}

function resultPieces(type: unknown, value: unknown): readonly Piece[] {
  if (type === "tool_result" || type === "function_call_output") return readParts(value);
  // the AI SDK says the type of its results
  const typed = type === "tool-result" && isJsonObject(value) && "value" in value ? value : {};
  if (typed["type"] === "content") return readParts(typed["value"]);
  const isTyped = /^(?:error-)?(?:text|json)$/.test(String(typed["type"]));
  return [textPiece(toText(isTyped ? typed["value"] : value))];
}

/** Returns a text as it is, and any other value as JSON. */
function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
