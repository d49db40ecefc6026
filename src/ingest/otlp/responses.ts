import { isJsonObject } from "../../shared/json.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { documentIn } from "./document-in.ts";
import { unflatten } from "./unflatten.ts";
import { readPythonText } from "./python-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** A provider's response, with usage as the provider names it. */
export interface FoundResponse {
  readonly usage: Json;
  readonly model: string | null;
  readonly id: string | null;
}

/** Finds a response that Python printed as text into the JSON of `output.value`. */
export function responseInPythonText(attributes: Attributes): FoundResponse | undefined {
  const output = documentIn(attributes.get("output.value"));
  const texts = [output?.["raw"], ...listOf(output?.["replies"])];
  for (const text of texts) {
    const found = typeof text === "string" ? responseIn(readPythonText(text)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const RAW = "response.raw.";

/** Rebuilds a response from its members, sent as attributes: `response.raw.usage.prompt_tokens`. Unset members are the text `null`. */
export function responseInMembers(attributes: Attributes): FoundResponse | undefined {
  const members = [...attributes].flatMap(([key, value]) =>
    key.startsWith(RAW) && value !== "null" ? [[key.slice(RAW.length), value] as const] : [],
  );
  return members.length === 0 ? undefined : responseIn(unflatten(members));
}

/** Finds the outermost object with a usage. The parser of the value limits its depth. */
function responseIn(value: unknown): FoundResponse | undefined {
  if (isJsonObject(value)) {
    const { usage, model, id } = value;
    if (isJsonObject(usage)) return { usage, model: textOf(model), id: textOf(id) };
  }
  const inner = isJsonObject(value) ? Object.values(value) : listOf(value);
  for (const one of inner) {
    const found = responseIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
