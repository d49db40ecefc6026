import { isObject, parsed, textOf, type Json, type Part } from "./message.ts";

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
  const gemini = part["functionCall"] ?? part["function_call"];
  if (isObject(gemini))
    return [
      {
        kind: "call",
        id: textOf(gemini["id"]),
        name: textOf(gemini["name"]) ?? "?",
        args: parsed(gemini["args"] ?? gemini["arguments"]),
      },
    ];
  const type = textOf(part["type"]) ?? "";
  const inner = isObject(part["function"]) ? part["function"] : part;
  const ui =
    /^tool-(?!call|result)(.+)$/.exec(type)?.[1] ??
    (type === "dynamic-tool" ? textOf(part["toolName"]) : undefined);
  if (ui !== undefined) return readUiTool(part, ui);
  const hasFunction = inner !== part && type === "";
  if (!CALLS.includes(type) && !hasFunction) return undefined;
  return [
    {
      kind: "call",
      id: textOf(part["call_id"] ?? part["id"] ?? part["toolCallId"] ?? part["tool_call_id"]),
      name: textOf(inner["name"] ?? part["toolName"]) ?? "?",
      args: parsed(inner["arguments"] ?? inner["input"] ?? inner["args"]),
    },
  ];
}

/** A part of Vercel's messages that has a call and, once it is there, its result. */
function readUiTool(part: Json, name: string): readonly Part[] {
  const id = textOf(part["toolCallId"]);
  const call: Part = { kind: "call", id, name, args: parsed(part["input"] ?? part["args"]) };
  const value = part["output"] ?? part["errorText"];
  return value === undefined ? [call] : [call, { kind: "result", id, value: parsed(value) }];
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
  const gemini = part["functionResponse"] ?? part["function_response"];
  if (isObject(gemini))
    return [
      { kind: "result", id: textOf(gemini["id"] ?? gemini["name"]), value: parsed(gemini["response"]) },
    ];
  if (!RESULTS.includes(textOf(part["type"]) ?? "")) return undefined;
  const value = part["content"] ?? part["output"] ?? part["result"] ?? part["response"];
  return [
    {
      kind: "result",
      id: textOf(part["tool_use_id"] ?? part["call_id"] ?? part["toolCallId"] ?? part["id"]),
      value: parsed(isObject(value) && Object.hasOwn(value, "value") ? value["value"] : value),
    },
  ];
}

/** Images in the payload: OpenAI, Responses, Anthropic, Gemini, Vercel. */
function readImage(part: Json): readonly Part[] | undefined {
  const source = part["source"];
  if (part["type"] === "image" && isObject(source)) {
    const [data, type] = [textOf(source["data"]), textOf(source["media_type"])];
    if (data !== undefined) return [{ kind: "image", type: type ?? "", base64: data }];
    return ofUrl(textOf(source["url"]));
  }
  const inline = part["inlineData"] ?? part["inline_data"];
  if (isObject(inline))
    return [
      {
        kind: "image",
        type: textOf(inline["mimeType"] ?? inline["mime_type"]) ?? "",
        base64: textOf(inline["data"]) ?? "",
      },
    ];
  const openai = part["image_url"];
  if (openai !== undefined) return ofUrl(isObject(openai) ? textOf(openai["url"]) : textOf(openai));
  if (part["type"] !== "image" && part["type"] !== "file") return undefined;
  const data = textOf(part["image"] ?? part["data"] ?? part["url"]);
  const type = textOf(part["mediaType"] ?? part["mimeType"]);
  if (data === undefined) return undefined;
  return type === undefined || /^(data|https?):/.test(data)
    ? ofUrl(data)
    : [{ kind: "image", type, base64: data }];
}

function ofUrl(url: string | undefined): readonly Part[] | undefined {
  if (url === undefined) return undefined;
  const data = /^data:([\w.+/-]+);base64,(.*)$/s.exec(url);
  return data === null
    ? [{ kind: "elsewhere", url }]
    : [{ kind: "image", type: data[1] ?? "", base64: data[2] ?? "" }];
}

function readText(part: Json): readonly Part[] | undefined {
  const type = textOf(part["type"]);
  if (type === "refusal") return [{ kind: "text", text: textOf(part["refusal"]) ?? "" }];
  const text = textOf(part["text"]) ?? (type === "text" ? textOf(part["content"]) : undefined);
  return text === undefined ? undefined : [{ kind: "text", text }];
}
