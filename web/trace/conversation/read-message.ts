import { first, isObject, parsed, textOf, type Json, type Message, type Part } from "./message.ts";
import { callOf, partsOf } from "./read-part.ts";

const ROLES: ReadonlyMap<string, string> = new Map([
  ["human", "user"],
  ["HumanMessage", "user"],
  ["ai", "assistant"],
  ["AIMessage", "assistant"],
  ["AIMessageChunk", "assistant"],
  ["model", "assistant"],
  ["SystemMessage", "system"],
  ["developer", "system"],
  ["ToolMessage", "tool"],
  ["FunctionMessage", "tool"],
  ["function", "tool"],
]);

/** Items of Responses that stand beside messages, and whose they are. */
const ITEMS: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "assistant"],
  ["custom_tool_call", "assistant"],
  ["reasoning", "assistant"],
  ["function_call_output", "tool"],
  ["custom_tool_call_output", "tool"],
]);

/** One message; undefined: it is none. */
export function messageOf(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const { kwargs, id, data } = value;
  const [type, role] = [textOf(value["type"]) ?? "", textOf(value["role"])];
  // LangChain's serialised messages: a class and its members
  const name = Array.isArray(id) ? textOf(id.at(-1)) : undefined;
  if (isObject(kwargs) && name !== undefined && ROLES.has(name)) return withRole(name, kwargs);
  if (isObject(data) && type !== "" && Object.hasOwn(data, "content")) return withRole(type, data);
  if (role !== undefined) return withRole(role, value);
  const item = ITEMS.get(type);
  if (item !== undefined) return { role: item, parts: partsOf(value) };
  return ["human", "ai", "tool", "system"].includes(type) ? withRole(type, value) : undefined;
}

function withRole(name: string, message: Json): Message {
  const role = ROLES.get(name) ?? name;
  const parts = contentOf(message);
  if (role !== "tool" || parts.some(({ kind }) => kind === "result")) return { role, parts };
  const id = textOf(first(message, "tool_call_id", "toolCallId", "name"));
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (texts.length < parts.length) return { role, parts };
  return { role, parts: [{ kind: "result", id, value: parsed(texts.join("\n")) }] };
}

function contentOf(message: Json): readonly Part[] {
  const more = isObject(message["additional_kwargs"]) ? message["additional_kwargs"] : {};
  const reasoning =
    textOf(first(message, "reasoning_content", "reasoning") ?? more["reasoning_content"]) ?? "";
  const refusal = textOf(message["refusal"]);
  const calls = [message["tool_calls"], message["toolCalls"], more["tool_calls"]].find(
    (list) => Array.isArray(list) && list.length > 0,
  );
  return [
    ...(reasoning === "" ? [] : [{ kind: "reasoning" as const, text: reasoning }]),
    ...partsOf(first(message, "content", "parts", "text")),
    ...(refusal === undefined ? [] : [{ kind: "text" as const, text: refusal }]),
    ...[calls, message["function_call"]].flat().filter(isObject).map(callOf),
  ];
}
