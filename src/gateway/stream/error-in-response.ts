import { isJsonObject } from "../../shared/json.ts";
import { errorObjectOf } from "../error-envelope.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_MESSAGE_LENGTH = 2000;

/** The message of the error in a response or one of its chunks, whether or not it has choices too. */
export function errorOfResponse(chunk: Json): string | undefined {
  const { error, x_groq: groq, choices, detail, message } = chunk;
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  if (isTold(error) || (!hasChoices && isJsonObject(error))) return messageOf(error);
  if (isJsonObject(groq) && isTold(groq["error"])) return messageOf(groq["error"]);
  const isFlat =
    !Array.isArray(choices) && (isTold(detail) || (typeof message === "string" && message !== ""));
  return isFlat || chunk["object"] === "error" ? shortened(errorObjectOf(500, chunk).message) : undefined;
}

/** The message of an error that ends one choice; the others may go on. */
export function errorOfChoice(choice: unknown): string | undefined {
  if (!isJsonObject(choice)) return undefined;
  if (isTold(choice["error"])) return messageOf(choice["error"]);
  return choice["finish_reason"] === "error" ? "The upstream ended a choice with an error." : undefined;
}

function messageOf(error: unknown): string {
  const message = isJsonObject(error) ? error["message"] : error;
  return typeof message === "string" && message !== ""
    ? shortened(message)
    : "The upstream reported an error.";
}

/** Many servers send `error: null` or `error: {}` where there is none. */
function isTold(error: unknown): boolean {
  if (typeof error === "object" && error !== null) return Object.keys(error).length > 0;
  return error === true || (typeof error === "string" && error !== "");
}

function shortened(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH);
}
