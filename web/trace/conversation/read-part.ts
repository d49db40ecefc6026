import { first, isObject, parsed, textOf, type Json, type Part } from "./message.ts";

/** The parts of a message's content: a text, a part, or a list of them. */
export function partsOf(content: unknown): readonly Part[] {
  if (content === null || content === undefined || content === "") return [];
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (Array.isArray(content)) return content.flatMap((one: unknown) => partsOf(one));
  return isObject(content) ? partOf(content) : [{ kind: "other", value: content }];
}

function partOf(part: Json): readonly Part[] {
  return (
    readReasoning(part) ??
    readCall(part) ??
    readResult(part) ??
    readImage(part) ??
    readText(part) ?? [{ kind: "other", value: part }]
  );
}

/** Anthropic's thinking, Gemini's thoughts, Responses' and Vercel's reasoning. */
function readReasoning(part: Json): readonly Part[] | undefined {
  const { type } = part;
  if (type === "thinking" || type === "redacted_thinking")
    return [{ kind: "reasoning", text: textOf(part["thinking"]) ?? "(redacted)" }];
  if (part["thought"] === true) return [{ kind: "reasoning", text: textOf(part["text"]) ?? "" }];
  if (type !== "reasoning") return undefined;
  const summary = [part["summary"], part["content"]].flatMap((list) =>
    Array.isArray(list)
      ? list.map((one: unknown) => (isObject(one) ? textOf(one["text"]) : textOf(one)))
      : textOf(list),
  );
  const text = [textOf(part["text"]), ...summary].filter((one) => one !== undefined).join("\n\n");
  return [{ kind: "reasoning", text: text === "" ? "(not told)" : text }];
}

const CALLS = [
  "tool_use",
  "server_tool_use",
  "function_call",
  "tool-call",
  "tool_call",
  "function",
  "custom_tool_call",
];

function readCall(part: Json): readonly Part[] | undefined {
  const gemini = first(part, "functionCall", "function_call");
  if (isObject(gemini)) return [callOf(gemini)];
  const type = textOf(part["type"]) ?? "";
  // a part of Vercel's messages that has a call and, once it is there, its result
  const tool = /^tool-(?!call|result)(.+)$/.exec(type)?.[1];
  if (tool !== undefined || type === "dynamic-tool") {
    const call = callOf({ ...part, ...(tool !== undefined && { toolName: tool }) });
    const value = parsed(first(part, "output", "errorText"));
    return value === undefined ? [call] : [call, { kind: "result", id: idOf(part), value }];
  }
  return CALLS.includes(type) || (type === "" && isObject(part["function"])) ? [callOf(part)] : undefined;
}

/** A tool call in the form of any client. */
export function callOf(call: Json): Part {
  const inner = isObject(call["function"]) ? call["function"] : call;
  const name = textOf(first(inner, "name", "toolName")) ?? "?";
  return { kind: "call", id: idOf(call), name, args: parsed(first(inner, "arguments", "input", "args")) };
}

/** The id of a tool call. */
function idOf(part: Json): string | undefined {
  return textOf(first(part, "call_id", "tool_use_id", "toolCallId", "tool_call_id", "id"));
}

const RESULTS = [
  "tool_result",
  "function_call_output",
  "tool-result",
  "tool_call_response",
  "web_search_tool_result",
  "custom_tool_call_output",
];

function readResult(part: Json): readonly Part[] | undefined {
  const gemini = first(part, "functionResponse", "function_response");
  if (isObject(gemini)) {
    const id = idOf(gemini) ?? textOf(gemini["name"]);
    return [{ kind: "result", id, value: parsed(gemini["response"]) }];
  }
  if (!RESULTS.includes(textOf(part["type"]) ?? "")) return undefined;
  const result = first(part, "content", "output", "result", "response");
  const value = isObject(result) && Object.hasOwn(result, "value") ? result["value"] : result;
  return [{ kind: "result", id: idOf(part), value: parsed(value) }];
}

/** Images in the payload: OpenAI, Responses, Anthropic, Gemini, Vercel. */
function readImage(part: Json): readonly Part[] | undefined {
  const isImage = part["type"] === "image" || part["type"] === "file";
  const found =
    first(part, "inlineData", "inline_data", "image_url") ?? (isImage ? (part["source"] ?? part) : undefined);
  const image = isObject(found) ? found : { url: found };
  const data = textOf(first(image, "data", "image", "url"));
  if (data === undefined) return undefined;
  const [, type, base64] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(data) ?? [];
  if (type !== undefined && base64 !== undefined) return [{ kind: "image", type, base64 }];
  const stated = textOf(first(image, "media_type", "mediaType", "mimeType", "mime_type"));
  return stated === undefined || /^(data|https?):/.test(data)
    ? [{ kind: "elsewhere", url: data }]
    : [{ kind: "image", type: stated, base64: data }];
}

function readText(part: Json): readonly Part[] | undefined {
  const type = textOf(part["type"]);
  if (type === "refusal") return [{ kind: "text", text: textOf(part["refusal"]) ?? "" }];
  const text = textOf(part["text"]) ?? (type === "text" ? textOf(part["content"]) : undefined);
  return text === undefined ? undefined : [{ kind: "text", text }];
}
