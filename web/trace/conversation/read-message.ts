import { isObject, parsed, textOf, type Json, type Message, type Part } from "./message.ts";
import { partsOf } from "./read-part.ts";

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  HumanMessage: "user",
  ai: "assistant",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  model: "assistant",
  SystemMessage: "system",
  developer: "system",
  ToolMessage: "tool",
  FunctionMessage: "tool",
  function: "tool",
};

/** Items of Responses that stand beside messages, and whose they are. */
const ITEMS: Readonly<Record<string, string>> = {
  function_call: "assistant",
  custom_tool_call: "assistant",
  reasoning: "assistant",
  function_call_output: "tool",
  custom_tool_call_output: "tool",
};

/** One message; undefined: it is none. */
export function messageOf(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const langchain = langchainOf(value);
  if (langchain !== undefined) return langchain;
  const type = textOf(value["type"]) ?? "";
  const item = Object.hasOwn(ITEMS, type) ? ITEMS[type] : undefined;
  if (item !== undefined && value["role"] === undefined) return { role: item, parts: partsOf(value) };
  const role =
    textOf(value["role"]) ??
    (type === "human" || type === "ai" || type === "tool" || type === "system" ? type : undefined);
  if (role === undefined) return undefined;
  return { role: ROLES[role] ?? role, parts: contentOf(value, ROLES[role] ?? role) };
}

/** The class and members of a serialised message. */
function langchainOf(value: Json): Message | undefined {
  const { kwargs, id, data, type } = value;
  const name = Array.isArray(id) ? textOf(id.at(-1)) : undefined;
  if (isObject(kwargs) && name !== undefined && Object.hasOwn(ROLES, name)) {
    const role = ROLES[name] ?? name;
    return { role, parts: contentOf(kwargs, role) };
  }
  if (isObject(data) && typeof type === "string" && Object.hasOwn(data, "content")) {
    const role = ROLES[type] ?? type;
    return { role, parts: contentOf(data, role) };
  }
  return undefined;
}

function contentOf(message: Json, role: string): readonly Part[] {
  const more = isObject(message["additional_kwargs"]) ? message["additional_kwargs"] : {};
  const reasoning = textOf(message["reasoning_content"] ?? message["reasoning"] ?? more["reasoning_content"]);
  const said = partsOf(message["content"] ?? message["parts"] ?? message["text"]);
  const lists = [message["tool_calls"], message["toolCalls"], more["tool_calls"]].find(
    (list) => Array.isArray(list) && list.length > 0,
  );
  const calls = Array.isArray(lists) ? lists.flatMap((one: unknown) => callOf(one)) : [];
  const old = isObject(message["function_call"]) ? callOf(message["function_call"]) : [];
  const refusal = textOf(message["refusal"]);
  const parts: Part[] = [
    ...(reasoning === undefined || reasoning === "" ? [] : [{ kind: "reasoning" as const, text: reasoning }]),
    ...said,
    ...(refusal === undefined ? [] : [{ kind: "text" as const, text: refusal }]),
    ...calls,
    ...old,
  ];
  const hasResult = parts.some(({ kind }) => kind === "result");
  if (role !== "tool" || hasResult) return parts;
  const id = textOf(message["tool_call_id"] ?? message["toolCallId"] ?? message["name"]);
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return texts.length === parts.length ? [{ kind: "result", id, value: parsed(texts.join("\n")) }] : parts;
}

function callOf(value: unknown): readonly Part[] {
  if (!isObject(value)) return [];
  const inner = isObject(value["function"]) ? value["function"] : value;
  const name = textOf(inner["name"] ?? inner["toolName"]);
  if (name === undefined) return [];
  const args = inner["arguments"] ?? inner["args"] ?? inner["input"];
  return [{ kind: "call", id: textOf(value["id"] ?? value["toolCallId"]), name, args: parsed(args) }];
}
