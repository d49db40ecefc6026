import { statusOf } from "../http/errors.ts";
import { plainPath } from "../http/request-target.ts";
import type { AppError, ErrorCode, Issue } from "../shared/errors.ts";
import { isJsonObject, isTooDeep } from "../shared/json.ts";
import { apiOfPath } from "./apis/endpoint-paths.ts";
import { parseOrUndefined } from "./parse-or-undefined.ts";

/** Error members that old and new OpenAI SDKs read. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | number | null;
}

export interface ErrorEnvelope {
  readonly error: ErrorObject;
  readonly detail: string | readonly Issue[];
}

const typeByCode = {
  bad_request: "invalid_request_error",
  unauthenticated: "authentication_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  client_stalled: "invalid_request_error",
  already_running: "invalid_request_error",
  payload_too_large: "invalid_request_error",
  too_many_calls: "invalid_request_error",
  unsupported_media_type: "invalid_request_error",
  uri_too_long: "invalid_request_error",
  upgrade_required: "invalid_request_error",
  validation: "invalid_request_error",
  too_many_requests: "rate_limit_error",
  concurrency_limit: "rate_limit_error",
  store_unavailable: "server_error",
  service_overloaded: "server_error",
  store_overloaded: "server_error",
  query_timeout: "server_error",
  query_memory: "server_error",
  storage_full: "server_error",
  upstream_not_configured: "server_error",
  upstream_unreachable: "upstream_error",
  upstream_timeout: "upstream_error",
  upstream_broken: "upstream_error",
  upstream_invalid: "upstream_error",
  internal: "server_error",
} satisfies Record<ErrorCode, string>;

/** Formats a gateway error for OpenAI SDKs (`error`) and training clients (`detail`). */
export function envelopeOf(error: AppError): ErrorEnvelope {
  const { code, issues } = error;
  const [first] = issues;
  return {
    error: {
      message: first === undefined ? error.message : describeIssues(issues),
      type: typeByCode[code],
      param: first === undefined ? null : paramOf(first),
      code,
    },
    detail: first === undefined ? error.message : issues,
  };
}

interface FailedRequest {
  /** Request target as sent, in any spelling; empty if unknown. */
  readonly originalUrl: string;
  readonly id: string;
}

/** Formats a gateway error as the API of the request's path does. */
export function errorBodyOf(error: AppError, { originalUrl, id }: FailedRequest) {
  const api = apiOfPath(plainPath(originalUrl));
  if (api === "gemini") return { error: googleErrorOf(envelopeOf(error).error) };
  return api === "anthropic" ? anthropicEnvelopeOf(error, id) : envelopeOf(error);
}

/** Google's names of statuses; any other is that of its class. Source: google.rpc.Code. */
const GOOGLE_STATUS = new Map([
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ABORTED"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [504, "DEADLINE_EXCEEDED"],
]);

/** Formats an error of the gateway as Google does. */
export function googleErrorOf({ message, code }: ErrorObject) {
  const status = statusOf({ code: code as ErrorCode });
  return {
    code: status,
    message,
    status: GOOGLE_STATUS.get(status) ?? (status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE"),
  };
}

function anthropicEnvelopeOf(error: AppError, requestId: string) {
  const { error: own, detail } = envelopeOf(error);
  const { message, code, param, type } = own;
  const shown = {
    type: code === "payload_too_large" ? "request_too_large" : anthropicTypeOf(type),
    message,
    code,
    param,
  };
  return { type: "error" as const, error: shown, request_id: requestId, detail };
}

/** Maps an error type to Anthropic's name. */
export function anthropicTypeOf(type: string): string {
  return type === "server_error" || type === "upstream_error" ? "api_error" : type;
}

/** Formats an error event of a chat stream. */
export function errorFrame(error: ErrorObject): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}

/**
 * Converts an upstream error for SDKs: adds `error` to a JSON object that lacks one and wraps non-JSON. Returns `undefined`
 * if the body needs no change.
 */
export function readableError(status: number, body: Buffer): Buffer | undefined {
  const text = body.toString("utf8");
  const value = parseOrUndefined(text);
  if (!isJsonObject(value)) {
    const message = text.trim() === "" ? `The upstream returned ${status} without a body.` : plainText(text);
    const error = { message, type: typeByStatus(status), param: null, code: null };
    return Buffer.from(JSON.stringify({ error, detail: message }));
  }
  if (Object.hasOwn(value, "error")) return undefined;
  const open = body.indexOf("{") + 1;
  const comma = Object.keys(value).length === 0 ? "" : ",";
  const error = `"error":${JSON.stringify(errorObjectOf(status, value))}${comma}`;
  return Buffer.concat([body.subarray(0, open), Buffer.from(error), body.subarray(open)]);
}

/** Builds the error object from a flat body (vLLM) or a body with `detail` (FastAPI). */
export function errorObjectOf(status: number, flat: Readonly<Record<string, unknown>>): ErrorObject {
  const { message, type, param, code, detail } = flat;
  return {
    message: typeof message === "string" ? message : describeDetail(detail, status),
    type: typeof type === "string" ? type : typeByStatus(status),
    param: typeof param === "string" ? param : paramOfDetail(detail),
    code: typeof code === "string" || typeof code === "number" ? code : null,
  };
}

function describeDetail(detail: unknown, status: number): string {
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) {
    const issues = detail.filter(isIssue);
    if (issues.length > 0) return describeIssues(issues);
  }
  const text = detail === undefined || isTooDeep(detail) ? undefined : JSON.stringify(detail);
  return text ?? `The upstream returned ${status}.`;
}

function describeIssues(issues: readonly Issue[]): string {
  const [first, ...others] = issues;
  const where = first === undefined ? null : paramOf(first);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${where === null ? "" : `${where}: `}${first?.msg ?? ""}${more}`;
}

function paramOf(issue: Issue): string | null {
  return issue.loc.length < 2 ? null : issue.loc.slice(1).join(".");
}

function paramOfDetail(detail: unknown): string | null {
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  return isIssue(first) ? paramOf(first) : null;
}

function isIssue(value: unknown): value is Issue {
  return isJsonObject(value) && typeof value["msg"] === "string" && Array.isArray(value["loc"]);
}

function typeByStatus(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "upstream_error" : "invalid_request_error";
  }
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
