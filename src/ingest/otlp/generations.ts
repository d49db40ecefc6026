import { isJsonObject } from "../../shared/json.ts";
import { documentIn } from "./document-in.ts";
import type { Attributes } from "./attributes.ts";

/** Finds the response model in a LangChain result: a list of generations, or the message itself. */
export function modelOfGeneration(attributes: Attributes): string | undefined {
  const document = documentIn(attributes.get("gen_ai.completion"));
  if (document === undefined) return undefined;
  const { generations } = document;
  const first: unknown = Array.isArray(generations) ? (generations as unknown[]).flat()[0] : undefined;
  const model = modelOfMessage(isJsonObject(first) ? first["message"] : document);
  return typeof model === "string" && model !== "" ? model : undefined;
}

function modelOfMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return undefined;
  const fields = isJsonObject(message["kwargs"]) ? message["kwargs"] : message;
  const metadata = fields["response_metadata"];
  return isJsonObject(metadata) ? (metadata["model_name"] ?? metadata["model"]) : undefined;
}
