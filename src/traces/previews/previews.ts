import { isJsonObject } from "../../shared/json.ts";
import { anyText, contentText, firstText, lastText, messageOf, previewOf, textOf } from "./message-text.ts";

const LISTS = ["messages", "input", "contents", "prompt", "body", "kwargs"] as const;
/** Members that only a request to a model has beside its prompt. */
const ASKS = ["model", "system", "instructions"] as const;
/** Levels of `messages` in `messages`, of wrapped requests. */
const MAX_WRAPPERS = 4;

/**
 * Reads the last user message of a call's inputs, else their first text; null without text. At most 200 code points. A
 * conversation without any text, of images alone, has none, whatever texts describe it.
 */
export function inputPreview(inputs: unknown): string | null {
  const list = messagesIn(inputs, 0);
  if (list === undefined) return previewOf(promptOf(inputs) || firstText(inputs));
  const { system, instructions } = isJsonObject(inputs) ? inputs : {};
  return previewOf(lastText(list, "user") || contentText(system ?? instructions) || anyText(list));
}

/** Finds the list of messages; undefined if there is none. */
function messagesIn(value: unknown, wrappers: number): readonly unknown[] | undefined {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = Array.isArray(value[0]) ? value.flat() : value;
    return list.some((item) => messageOf(item) !== undefined) ? list : undefined;
  }
  if (!isJsonObject(value) || wrappers > MAX_WRAPPERS) return undefined;
  for (const name of LISTS) {
    const list = messagesIn(value[name], wrappers + 1);
    if (list !== undefined) return list;
  }
  return messageOf(value) === undefined ? undefined : [value];
}

/** Reads what a model was asked without messages; '' if nothing says that a model was asked. */
function promptOf(inputs: unknown): string {
  if (!isJsonObject(inputs)) return "";
  const request = [inputs, inputs["messages"]].find(
    (one) => isJsonObject(one) && ASKS.some((name) => Object.hasOwn(one, name)),
  );
  if (!isJsonObject(request)) return "";
  return firstText(request["input"] ?? request["contents"] ?? request["prompt"]);
}

/** Lists of alternative answers, of which the first counts. */
const ALTERNATIVES = ["choices", "candidates", "generations"] as const;
/** Types of items and content blocks beside texts. */
const WITHOUT_TEXT = /^(?:reasoning|thinking|tool_use|\w+_call)$/;

/**
 * Reads the last assistant text of a call's output, else its first text; null without text. At most 200 code points. A
 * response without any text, of tool calls alone, has none, whatever texts describe it.
 */
export function outputPreview(output: unknown): string | null {
  return previewOf(answerOf(output) ?? firstText(output));
}

/** Reads an answer of a known format: '' if it has no text; undefined if the format is unknown. */
function answerOf(output: unknown): string | undefined {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return answerIn(output);
  if (!isJsonObject(output)) return undefined;
  const alternatives = ALTERNATIVES.map((name) => output[name]).find((list) => Array.isArray(list));
  const [first] = alternatives?.slice(0, 1).flat() ?? [];
  if (isJsonObject(first)) return alternativeText(first);
  const list = [output["output"], output["messages"]].find((one) => Array.isArray(one));
  const answer = list === undefined ? undefined : answerIn(list);
  if (answer !== undefined && answer !== "") return answer;
  const message = messageOf(output);
  if (message !== undefined) return textOf(message);
  const { output_text, text, content } = output;
  return contentText(output_text) || contentText(text) || contentText(content) || answer;
}

/** Reads messages, items or content blocks; undefined if they are none. */
function answerIn(list: readonly unknown[]): string | undefined {
  const types = list.map((item) => (isJsonObject(item) ? item["type"] : undefined));
  const text =
    lastText(list, "assistant") || anyText(list) || (types[0] === undefined ? "" : contentText(list));
  if (text !== "" || list.some((item) => messageOf(item) !== undefined)) return text;
  return types.some((type) => typeof type === "string" && WITHOUT_TEXT.test(type)) ? "" : undefined;
}

function alternativeText(first: Readonly<Record<string, unknown>>): string {
  const message = first["message"] ?? first["content"] ?? first;
  if (!isJsonObject(message)) return contentText(message);
  const { content, parts, text, refusal } = message;
  return textOf({ content: content ?? parts ?? text, refusal }) || contentText(first["text"]);
}
