import type { Issue } from "../../shared/errors.ts";
import { isJsonObject, isTooDeep, parseOrUndefined } from "../../shared/json.ts";
import { describeIssues, errorTypeOf, type ErrorObject } from "../errors.ts";
import type { Json } from "./draft.ts";

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
export function errorOfChoice(choice: Json): string | undefined {
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

/**
 * Converts an upstream error for SDKs: adds `error` to a JSON object that lacks one and wraps non-JSON. Returns `undefined`
 * if the body needs no change.
 */
export function readableError(status: number, body: Buffer): Buffer | undefined {
  const text = body.toString("utf8");
  const value = parseOrUndefined(text);
  if (!isJsonObject(value)) {
    const message = plainText(text) || `The upstream returned ${status} without a body.`;
    const error = { message, type: errorTypeOf(status, "upstream_error"), param: null, code: null };
    return Buffer.from(JSON.stringify({ error, detail: message }));
  }
  if (Object.hasOwn(value, "error")) return undefined;
  const open = body.indexOf("{") + 1;
  const comma = Object.keys(value).length === 0 ? "" : ",";
  const error = `"error":${JSON.stringify(errorObjectOf(status, value))}${comma}`;
  return Buffer.concat([body.subarray(0, open), Buffer.from(error), body.subarray(open)]);
}

/** Builds the error object from a flat body (vLLM) or a body with `detail` (FastAPI). */
export function errorObjectOf(status: number, { message, type, param, code, detail }: Json): ErrorObject {
  const described = describeDetail(detail, status);
  return {
    message: typeof message === "string" ? message : described.message,
    type: typeof type === "string" ? type : errorTypeOf(status, "upstream_error"),
    param: typeof param === "string" ? param : described.param,
    code: typeof code === "string" || typeof code === "number" ? code : null,
  };
}

function describeDetail(detail: unknown, status: number): Pick<ErrorObject, "message" | "param"> {
  const issues = Array.isArray(detail) ? detail.filter(isIssue) : [];
  if (issues.length > 0) return describeIssues(issues);
  const text = typeof detail === "string" || isTooDeep(detail) ? detail : JSON.stringify(detail);
  return { message: typeof text === "string" ? text : `The upstream returned ${status}.`, param: null };
}

function isIssue(value: unknown): value is Issue {
  return isJsonObject(value) && typeof value["msg"] === "string" && Array.isArray(value["loc"]);
}

const MAX_TEXT = 1000;

/** Strips HTML, such as a proxy's error page, to one line of text. */
function plainText(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_TEXT)
    .replaceAll(/<(script|style)\b[^>]*>[^<]*<\/\1>|<[^>]*>/gi, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT)}…` : plain;
}
