/** Message to or from a model, independent of the recorded format. */
export interface Message {
  /** `system`, `user`, `assistant`, `tool`, or as recorded. */
  readonly role: string;
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Its bytes, in base64, or where it lies; that is never loaded. */
  | { readonly kind: "image"; readonly type: string; readonly base64: string }
  | { readonly kind: "elsewhere"; readonly url: string }
  | { readonly kind: "call"; readonly id: string | undefined; readonly name: string; readonly args: unknown }
  | { readonly kind: "result"; readonly id: string | undefined; readonly value: unknown }
  /** Nothing that is known. */
  | { readonly kind: "other"; readonly value: unknown };

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The first of these members that is neither undefined nor null. */
export function first(object: Json, ...names: readonly string[]): unknown {
  return names.map((name) => object[name]).find((value) => value !== undefined && value !== null);
}

/** A text that is JSON, as what it stands for; anything else as it is. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
