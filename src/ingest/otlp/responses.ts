import { isJsonObject } from "../../shared/json.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { documentIn } from "./document-in.ts";
import { unflatten } from "./unflatten.ts";
import { readPythonText } from "./python-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** Facts of a provider's response, in its own terms. */
export interface FoundResponse {
  readonly usage: Json;
  readonly model: string | null;
  readonly id: string | null;
}

/** A response in the text that Python prints, somewhere in the JSON of an output. */
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

/** A response whose members have become attributes of an event: `response.raw.usage.prompt_tokens`. What it left open is `null`, as text. */
export function responseInMembers(attributes: Attributes): FoundResponse | undefined {
  const members = [...attributes].flatMap(([key, value]) =>
    key.startsWith(RAW) && value !== "null" ? [[key.slice(RAW.length), value] as const] : [],
  );
  return members.length === 0 ? undefined : responseIn(unflatten(members));
}

/** The outermost object with a usage. The text that it was read from bounds the depth. */
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
