import { isObject, parsed, textOf, type Json, type Message } from "./message.ts";
import { messageOf } from "./read-message.ts";
import { partsOf } from "./read-part.ts";

interface Payload {
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes?: unknown;
}

/** Messages from the first one to the response; empty if the call is not a conversation. */
export function readConversation({ inputs, output, attributes }: Payload): readonly Message[] {
  const asked = askedIn(inputs).concat(isObject(attributes) ? askedInAttributes(attributes) : []);
  const answered = answeredIn(output, asked.length > 0);
  return [...asked, ...(answered.length > 0 ? answered : answeredInAttributes(attributes, asked))].filter(
    ({ parts }) => parts.length > 0,
  );
}

/** Messages, an instruction before them, or items of Responses. */
function askedIn(inputs: unknown): readonly Message[] {
  if (Array.isArray(inputs)) return messagesOf(inputs);
  if (!isObject(inputs)) return [];
  const config = isObject(inputs["config"]) ? inputs["config"] : {};
  const system =
    inputs["system"] ??
    inputs["instructions"] ??
    inputs["systemInstruction"] ??
    inputs["system_instruction"] ??
    config["systemInstruction"] ??
    config["system_instruction"];
  const messages = ["messages", "input", "contents", "prompt", "body", "kwargs"]
    .map((name) => messagesOf(parsed(inputs[name])))
    .find((found) => found.length > 0);
  if (messages !== undefined) return [...systemOf(system), ...messages];
  // a text alone is a conversation only where something else says that a model was asked
  const text = textOf(inputs["input"] ?? inputs["contents"] ?? inputs["prompt"]);
  return text !== undefined && inputs["model"] !== undefined
    ? [...systemOf(system), { role: "user", parts: partsOf(text) }]
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
  if (!isAsked) return [];
  return withText(value);
}

/** One of several answers: a message, Gemini's content, or text alone. */
function choiceOf(choice: Json): readonly Message[] {
  const message = messageOf(choice["message"]) ?? messageOf(choice["content"]);
  if (message !== undefined) return [message];
  const content = isObject(choice["content"]) ? choice["content"]["parts"] : choice["content"];
  const parts = partsOf(
    content ?? choice["text"] ?? (isObject(choice["message"]) ? choice["message"]["content"] : undefined),
  );
  return parts.length === 0 ? [] : [{ role: "assistant", parts }];
}

/** `{text, toolCalls, reasoning}` */
function withText(value: Json): readonly Message[] {
  const known = ["text", "content", "toolCalls", "tool_calls", "reasoning"].some((name) =>
    Object.hasOwn(value, name),
  );
  const message = known
    ? messageOf({ ...value, role: "assistant", content: value["content"] ?? value["text"] })
    : undefined;
  return message === undefined ? [] : [message];
}

/** Messages in attributes by the conventions of OpenTelemetry and the AI SDK. */
function askedInAttributes(attributes: Json): readonly Message[] {
  const genAi = isObject(attributes["gen_ai"]) ? attributes["gen_ai"] : {};
  const input = isObject(genAi["input"]) ? genAi["input"]["messages"] : attributes["gen_ai.input.messages"];
  return messagesOf(parsed(input));
}

function answeredInAttributes(attributes: unknown, asked: readonly Message[]): readonly Message[] {
  if (!isObject(attributes) || asked.length === 0) return [];
  const genAi = isObject(attributes["gen_ai"]) ? attributes["gen_ai"] : {};
  const output = isObject(genAi["output"])
    ? genAi["output"]["messages"]
    : attributes["gen_ai.output.messages"];
  return messagesOf(parsed(output));
}
