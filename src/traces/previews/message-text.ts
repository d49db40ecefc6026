import { isJsonObject } from "../../shared/json.ts";

/** Characters of a preview, as Unicode code points. */
const PREVIEW_CHARACTERS = 200;

/** Returns the first non-empty string of a JSON value in document order; '' if there is none. Any depth. */
export function firstText(value: unknown): string {
  const open: Iterator<unknown>[] = [[value].values()];
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const { done, value: next } = inner.next();
    if (done === true) open.pop();
    else if (typeof next === "string" && next !== "") return next;
    else if (Array.isArray(next)) open.push(next.values());
    else if (isJsonObject(next)) open.push(Object.values(next).values());
  }
  return "";
}

/** Cuts a text to a preview, null if it is empty. The copy does not keep the text in memory, as a slice would. */
export function previewOf(text: string): string | null {
  // a code point has at most two UTF-16 units
  const characters = Array.from(text.slice(0, 2 * PREVIEW_CHARACTERS));
  return text === "" ? null : characters.slice(0, PREVIEW_CHARACTERS).join("");
}

/** Message to or from a model, in any recorded format. */
interface Message {
  /** `user`, `assistant`, or as recorded. */
  readonly role: string;
  readonly content: unknown;
  readonly refusal: unknown;
}

/** Names of roles, also those that a message's type or class tells. */
const ROLES: ReadonlyMap<unknown, string> = new Map([
  ...["user", "human", "HumanMessage"].map((name) => [name, "user"] as const),
  ...["assistant", "ai", "model", "AIMessage", "AIMessageChunk"].map((name) => [name, "assistant"] as const),
  ...["system", "SystemMessage"].map((name) => [name, "system"] as const),
  ...["tool", "ToolMessage"].map((name) => [name, "tool"] as const),
]);

/** Members with the content of a message, in the order in which they are looked for. */
const CONTENT = ["content", "contents", "parts", "text"] as const;

/** Reads the text of the last message of a role that has text; '' if there is none. */
export function lastText(list: readonly unknown[], role: string): string {
  for (let at = list.length - 1; at >= 0; at--) {
    const message = messageOf(list[at]);
    const text = message?.role === role ? textOf(message) : "";
    if (text !== "") return text;
  }
  return "";
}

/** Reads the first text of any message, else the first result of a tool; '' if there is none. */
export function anyText(list: readonly unknown[]): string {
  for (const withResults of [false, true]) {
    for (const item of list) {
      const message = messageOf(item);
      const text = message === undefined ? "" : textOf(message, withResults);
      if (text !== "") return text;
    }
  }
  return "";
}

/** Reads a message; undefined if a value is none. */
export function messageOf(value: unknown): Message | undefined {
  if (!isJsonObject(value)) return undefined;
  // OpenInference wraps messages, LangChain serialises their class or type beside their members
  const message = hasContent(value)
    ? value
    : [value["message"], value["kwargs"], value["data"]].find((inner) => isJsonObject(inner));
  if (!isJsonObject(message) || !hasContent(message)) return undefined;
  const role = roleOf(message) ?? roleOf(value) ?? (Array.isArray(message["parts"]) ? "user" : undefined);
  const content = CONTENT.map((name) => message[name]).find((one) => one != null);
  return role === undefined ? undefined : { role, content, refusal: message["refusal"] };
}

function hasContent(value: object): boolean {
  return CONTENT.some((name) => Object.hasOwn(value, name));
}

function roleOf({ role, type, id }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof role === "string") return ROLES.get(role) ?? role;
  return ROLES.get(type) ?? (Array.isArray(id) ? ROLES.get(id.at(-1)) : undefined);
}

export function textOf(
  { content, refusal }: Pick<Message, "content" | "refusal">,
  withResults = false,
): string {
  return contentText(content, withResults) || (typeof refusal === "string" ? refusal : "");
}

/** Joins the text blocks of a message by newlines, as many as a preview needs; '' if there is none. */
export function contentText(content: unknown, withResults = false): string {
  let joined: string | undefined;
  for (const block of Array.isArray(content) ? (content as readonly unknown[]) : [content]) {
    const isResult = withResults && isJsonObject(block) && block["type"] === "tool_result";
    const text = isResult ? contentText(block["content"]) : blockText(block);
    if (text !== undefined) joined = joined === undefined ? text : `${joined}\n${text}`;
    if (joined !== undefined && joined.length >= 2 * PREVIEW_CHARACTERS) break;
  }
  return joined ?? "";
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set([undefined, "text", "input_text", "output_text", "refusal"]);

/** Reads a text block. Reasoning, tools and files are none. */
function blockText(block: unknown): string | undefined {
  if (typeof block === "string") return block;
  if (!isJsonObject(block)) return undefined;
  const inner = isJsonObject(block["message_content"]) ? block["message_content"] : block;
  const { type, text, content, refusal, thought } = inner;
  if (thought === true || !TEXT_TYPES.has(type)) return undefined;
  // the GenAI conventions of OpenTelemetry call it content
  const found = text ?? refusal ?? (type === "text" ? content : undefined);
  return typeof found === "string" ? found : undefined;
}
