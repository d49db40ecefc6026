import { first, isObject, parsed, textOf, type Json, type Message } from "./message.ts";
import { messageOf } from "./read-message.ts";
import { partsOf } from "./read-part.ts";

interface Payload {
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes?: unknown;
}

/** Messages from the first one to the response; empty if the call is not a conversation. */
export function readConversation({ inputs, output, attributes }: Payload): readonly Message[] {
  const asked = [...askedIn(inputs), ...attributeMessages(attributes, "input")];
  let answered = answeredIn(output, asked.length > 0);
  if (answered.length === 0 && asked.length > 0) answered = attributeMessages(attributes, "output");
  return [...asked, ...answered].filter(({ parts }) => parts.length > 0);
}

const SYSTEM = ["system", "instructions", "systemInstruction", "system_instruction"];

/** Messages, an instruction before them, or items of Responses. */
function askedIn(inputs: unknown): readonly Message[] {
  if (Array.isArray(inputs)) return messagesOf(inputs);
  if (!isObject(inputs)) return [];
  const config = isObject(inputs["config"]) ? inputs["config"] : {};
  const system = systemOf(first(inputs, ...SYSTEM) ?? first(config, ...SYSTEM));
  const messages = ["messages", "input", "contents", "prompt", "body", "kwargs"]
    .map((name) => messagesOf(parsed(inputs[name])))
    .find((found) => found.length > 0);
  if (messages !== undefined) return [...system, ...messages];
  // a text alone is a conversation only where something else says that a model was asked
  const text = textOf(first(inputs, "input", "contents", "prompt"));
  return text !== undefined && inputs["model"] !== undefined
    ? [...system, { role: "user", parts: partsOf(text) }]
    : [];
}

function systemOf(value: unknown): readonly Message[] {
  if (value === undefined || value === null || value === "") return [];
  const content = isObject(value) ? (value["parts"] ?? value["content"] ?? value) : value;
  return [{ role: "system", parts: partsOf(content) }];
}

/** All of a list, also of lists of messages; nothing if any of it is no message. */
function messagesOf(value: unknown): readonly Message[] {
  if (isObject(value)) {
    const inner = value["messages"] ?? value["contents"];
    return inner === undefined ? [] : [...systemOf(value["system"]), ...messagesOf(parsed(inner))];
  }
  if (!Array.isArray(value)) return [];
  const flat = value.length > 0 && value.every(Array.isArray) ? value.flat() : value;
  const messages = flat.map((one: unknown) => messageOf(one) ?? pairOf(one));
  return messages.every((one) => one !== undefined) ? messages : [];
}

/** `["human", "Hello"]` */
function pairOf(value: unknown): Message | undefined {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== "string") return undefined;
  return messageOf({ role: value[0], content: value[1] as unknown });
}

function answeredIn(output: unknown, isAsked: boolean): readonly Message[] {
  const value = parsed(output);
  if (Array.isArray(value)) return messagesOf(value);
  if (typeof value === "string")
    return isAsked && value !== "" ? [{ role: "assistant", parts: partsOf(value) }] : [];
  if (!isObject(value)) return [];
  const listed = [value["choices"], value["candidates"], value["generations"]].find(Array.isArray);
  if (listed !== undefined)
    return listed.flat().flatMap((one: unknown) => (isObject(one) ? choiceOf(one) : []));
  if (Array.isArray(value["output"])) {
    const items = value["output"].map((one: unknown) => messageOf(one));
    return items.filter((one) => one !== undefined);
  }
  const message = messageOf(value);
  if (message !== undefined) return [message];
  const inner = messagesOf(value["messages"]);
  if (inner.length > 0) return inner.slice(-1);
  return isAsked ? withText(value) : [];
}

/** One of several answers: a message, Gemini's content, or text alone. */
function choiceOf(choice: Json): readonly Message[] {
  const { message, content, text } = choice;
  const whole = messageOf(message) ?? messageOf(content);
  if (whole !== undefined) return [whole];
  const said = isObject(content) ? content["parts"] : content;
  const parts = partsOf(said ?? text ?? (isObject(message) ? message["content"] : undefined));
  return parts.length === 0 ? [] : [{ role: "assistant", parts }];
}

/** `{text, toolCalls, reasoning}` */
function withText(value: Json): readonly Message[] {
  if (first(value, "text", "content", "toolCalls", "tool_calls", "reasoning") === undefined) return [];
  const message = messageOf({ ...value, role: "assistant" });
  return message === undefined ? [] : [message];
}

/** Messages in attributes by the conventions of OpenTelemetry and the AI SDK. */
function attributeMessages(attributes: unknown, side: "input" | "output"): readonly Message[] {
  if (!isObject(attributes)) return [];
  const { gen_ai: genAi } = attributes;
  const nested = isObject(genAi) ? genAi[side] : undefined;
  return messagesOf(parsed(isObject(nested) ? nested["messages"] : attributes[`gen_ai.${side}.messages`]));
}
