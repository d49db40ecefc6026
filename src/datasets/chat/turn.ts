import { isJsonObject } from "../../shared/json.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Content of a message, independent of the recorded format. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  /** A content part in the form of OpenAI's chat. */
  | { readonly kind: "media"; readonly part: Json }
  | { readonly kind: "refusal"; readonly text: string }
  /** `args`: JSON text. */
  | { readonly kind: "call"; readonly id: string | undefined; readonly name: string; readonly args: string }
  | ToolResult;

/** Result of a tool. `name`: of the tool, which finds the call if `id` is missing. */
export interface ToolResult {
  readonly kind: "result";
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly pieces: readonly Piece[];
}

export type Role = "system" | "developer" | "user" | "assistant" | "tool";

export interface Turn {
  readonly role: Role;
  readonly name?: string | undefined;
  readonly pieces: readonly Piece[];
  /** True for a tool call that continues the assistant's message before it, as an item of Responses does. */
  readonly continues?: boolean;
}

/** The first of these members that is neither undefined nor null. */
export function first(object: Json, ...names: readonly string[]): unknown {
  for (const name of names) if (object[name] != null) return object[name];
  return undefined;
}

/** Returns a non-empty string, else `undefined`. */
export function textIn(object: Json, ...names: readonly string[]): string | undefined {
  const found = first(object, ...names);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** The object at a path; empty if there is none. */
export function objectIn(object: Json, ...path: readonly string[]): Json {
  let inner: unknown = object;
  for (const name of path) inner = isJsonObject(inner) ? inner[name] : undefined;
  return isJsonObject(inner) ? inner : {};
}

/** The first of these members that is an object, else the object itself. */
export function nestedIn(object: Json, ...names: readonly string[]): Json {
  return names.map((name) => object[name]).find(isJsonObject) ?? object;
}
