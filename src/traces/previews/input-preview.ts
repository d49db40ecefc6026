import { isJsonObject } from "../../shared/json.ts";
import { firstText, previewOf } from "./first-text.ts";
import { anyText, contentText, lastText, messageOf } from "./message-text.ts";

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
