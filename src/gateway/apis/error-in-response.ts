import { isJsonObject } from "../../shared/json.ts";
import { errorObjectOf } from "../error-envelope.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_MESSAGE_LENGTH = 2000;

/** Returns the error message of a response or chunk, with or without choices. */
export function errorOfResponse(chunk: Json): string | undefined {
  const { error, x_groq: groq, choices, detail, message } = chunk;
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  if (isError(error) || (!hasChoices && isJsonObject(error))) return messageOf(error);
  if (isJsonObject(groq) && isError(groq["error"])) return messageOf(groq["error"]);
  const isFlat =
    !Array.isArray(choices) && (isError(detail) || (typeof message === "string" && message !== ""));
  return isFlat || chunk["object"] === "error" ? shortened(errorObjectOf(500, chunk).message) : undefined;
}

/** Returns the message of an error that ends one choice; others may continue. */
export function errorOfChoice(choice: unknown): string | undefined {
  if (!isJsonObject(choice)) return undefined;
  if (isError(choice["error"])) return messageOf(choice["error"]);
  return choice["finish_reason"] === "error" ? "The upstream ended a choice with an error." : undefined;
}

function messageOf(error: unknown): string {
  const message = isJsonObject(error) ? error["message"] : error;
  return typeof message === "string" && message !== ""
    ? shortened(message)
    : "The upstream reported an error.";
}

/** True for an actual error: many servers send `error: null` or `error: {}`. */
function isError(error: unknown): boolean {
  if (typeof error === "object" && error !== null) return Object.keys(error).length > 0;
  return error === true || (typeof error === "string" && error !== "");
}

function shortened(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH);
}
