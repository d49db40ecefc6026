import { isJsonObject } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { first, textIn, toText, type Json, type Piece } from "./turn.ts";

/** Reads the content of a message: a text, a part, or a list of them. Thoughts are dropped. Throws `LeftOut`. */
export function readParts(content: unknown): readonly Piece[] {
  if (content == null) return [];
  if (typeof content === "string") return [textPiece(content)];
  if (Array.isArray(content)) return content.flatMap(readListed);
  if (isJsonObject(content)) return readPart(content);
  throw new LeftOut("unsupported_content");
}

function readListed(item: unknown): readonly Piece[] {
  if (typeof item === "string" || isJsonObject(item)) return readParts(item);
  throw new LeftOut("unsupported_content");
}

function textPiece(text: unknown): Piece {
  if (typeof text !== "string") throw new LeftOut("unsupported_content");
  requireRecorded(text);
  return { kind: "text", text };
}

type Reader = (part: Json) => Piece;

const readText: Reader = (part) => textPiece(first(part, "text", "content"));

const readImageUrl: Reader = (part) => {
  const given = part["image_url"];
  const { url, detail } = isJsonObject(given) ? given : { url: given, detail: part["detail"] };
  return image(url, detail);
};

/** Reads an image of Anthropic, the AI SDK or OpenInference. */
const readImage: Reader = (part) => {
  const { source, image: given } = part;
  if (isJsonObject(source))
    return source["type"] === "base64"
      ? image(dataUrl(source["media_type"], source["data"]))
      : image(source["url"]);
  if (isJsonObject(given)) return image(isJsonObject(given["image"]) ? given["image"]["url"] : given["url"]);
  const isUrl = typeof given === "string" && /^(?:https?|data):/.test(given);
  return image(isUrl ? given : dataUrl(first(part, "mediaType", "mimeType"), given));
};

/** Keeps a part of OpenAI's chat as it is. */
const readFile: Reader = (part) => {
  const name = String(part["type"]);
  if (isJsonObject(part[name])) return { kind: "media", part: { type: name, [name]: part[name] } };
  return image(dataUrl(first(part, "mediaType", "mimeType"), part["data"]));
};

const readRefusal: Reader = ({ refusal }) => {
  if (typeof refusal !== "string") throw new LeftOut("unsupported_content");
  return { kind: "refusal", text: refusal };
};

/** Reads a blob or URI of OpenTelemetry. */
const readModality: Reader = (part) => {
  if (part["modality"] !== "image") throw new LeftOut("unsupported_content");
  return image(
    part["type"] === "uri" ? part["uri"] : dataUrl(part["mime_type"] ?? "image/*", part["content"]),
  );
};

const READERS: ReadonlyMap<unknown, Reader> = new Map([
  ["text", readText],
  ["input_text", readText],
  ["output_text", readText],
  ["refusal", readRefusal],
  ["image_url", readImageUrl],
  ["input_image", readImageUrl],
  ["image", readImage],
  ["input_audio", readFile],
  ["file", readFile],
  ["blob", readModality],
  ["uri", readModality],
  ["tool_use", readCall],
  ["tool_call", readCall],
  ["tool-call", readCall],
  ["function", readCall],
  ["tool_result", readResult],
  ["tool-result", readResult],
  ["tool_call_response", readResult],
]);
const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

function readPart(part: Json): readonly Piece[] {
  const { type } = part;
  if (THOUGHTS.has(type)) return [];
  const reader = READERS.get(type);
  if (reader !== undefined) return [reader(part)];
  if (type != null) throw new LeftOut("unsupported_content");
  return readGeminiPart(part);
}

function image(url: unknown, detail?: unknown): Piece {
  if (typeof url !== "string" || url === "") throw new LeftOut("unsupported_content");
  return {
    kind: "media",
    part: { type: "image_url", image_url: { url, ...(detail != null && { detail }) } },
  };
}

/** Returns the data URL of an image. */
function dataUrl(type: unknown, base64: unknown): string {
  const isImage = typeof type === "string" && type.startsWith("image/") && typeof base64 === "string";
  if (!isImage) throw new LeftOut("unsupported_content");
  return base64.startsWith("data:") ? base64 : `data:${type};base64,${base64}`;
}

/** Reads a tool call of any format. */
export function readCall(call: Json): Piece {
  const inner = isJsonObject(call["function"]) ? call["function"] : call;
  const name = textIn(inner, "name", "toolName");
  const isCustom = call["type"] === "custom" || call["type"] === "custom_tool_call";
  if (name === undefined || isCustom) throw new LeftOut("unsupported_content");
  const args = toText(first(inner, "arguments", "input", "args") ?? {});
  return { kind: "call", id: textIn(call, "call_id", "toolCallId", "id"), name, args };
}

/** Reads the result of a tool. */
export function readResult(part: Json): Piece {
  const id = textIn(part, "tool_use_id", "call_id", "toolCallId", "tool_call_id", "id");
  const isOwnForm = part["type"] === "tool_result" || part["type"] === "function_call_output";
  const value = first(part, "content", "output", "response", "result");
  const pieces = isOwnForm ? readParts(value) : resultPieces(value);
  return { kind: "result", id, name: textIn(part, "toolName", "name"), pieces };
}

/** Reads a result of the AI SDK, which says its type, or a plain one. */
function resultPieces(value: unknown): readonly Piece[] {
  if (!isJsonObject(value) || !("value" in value)) return [textPiece(toText(value))];
  const { type, value: inner } = value;
  if (type === "content") return readParts(inner);
  const isTyped = typeof type === "string" && /^(?:error-)?(?:text|json)$/.test(type);
  return [textPiece(toText(isTyped ? inner : value))];
}

function readGeminiPart(part: Json): readonly Piece[] {
  const call = first(part, "functionCall", "function_call");
  if (isJsonObject(call)) return [readCall(call)];
  const result = first(part, "functionResponse", "function_response");
  if (isJsonObject(result)) return [geminiResult(result)];
  if (part["thought"] === true) return [];
  if (typeof part["text"] === "string") return [textPiece(part["text"])];
  const bytes = first(part, "inlineData", "inline_data");
  if (isJsonObject(bytes)) return [image(dataUrl(first(bytes, "mimeType", "mime_type"), bytes["data"]))];
  const file = first(part, "fileData", "file_data");
  if (!isJsonObject(file)) throw new LeftOut("unsupported_content");
  const type = textIn(file, "mimeType", "mime_type");
  if (type?.startsWith("image/") !== true) throw new LeftOut("unsupported_content");
  return [image(first(file, "fileUri", "file_uri"))];
}

function geminiResult(result: Json): Piece {
  if (Array.isArray(result["parts"])) throw new LeftOut("unsupported_content");
  const pieces = [textPiece(toText(result["response"]))];
  return { kind: "result", id: textIn(result, "id"), name: textIn(result, "name"), pieces };
}
