import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { statusOf, toAppError } from "../http/errors.ts";
import { plainPath } from "../http/request-target.ts";
import { AppError, type ErrorCode, type Issue } from "../shared/errors.ts";
import { apiOfPath } from "./apis/endpoint-paths.ts";

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

/** Time a client may keep sending after its response. */
const LINGER_MS = 3000;

/** Registers error handlers under `/v1` that old and new SDKs can read. */
export function registerGatewayErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendGatewayError);
  app.setNotFoundHandler(() => {
    throw new AppError("not_found", "No route for this path.");
  });
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    response.once("close", () => {
      if (request.complete) return;
      // closing the connection while the client sends would lose the response
      request.resume();
      setTimeout(() => {
        if (!request.complete) request.destroy();
      }, LINGER_MS).unref();
    });
    done();
  });
}

export function sendGatewayError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error);
  if (known === undefined) request.log.error({ err: error }, "request failed");
  const shown = known ?? new AppError("internal", `Internal error. Request id: ${request.id}`);
  if (shown.retryAfterSeconds !== undefined) {
    void reply.header("retry-after", String(shown.retryAfterSeconds));
    void reply.header("retry-after-ms", String(shown.retryAfterSeconds * 1000));
  }
  const status = statusOf(shown);
  // Claude Code repeats a 401 for minutes, opencode a 402
  if (status >= 401 && status <= 403) void reply.header("x-should-retry", "false");
  return reply.code(status).send(errorBodyOf(shown, request));
}

/** Formats a gateway error as the API of the request's path does: its target as sent, in any spelling. */
export function errorBodyOf(
  error: AppError,
  { originalUrl, id }: { readonly originalUrl: string; readonly id: string },
) {
  const envelope = envelopeOf(error);
  const api = apiOfPath(plainPath(originalUrl));
  if (api === "gemini") return { error: { ...googleErrorOf(envelope.error), ...googleDetails(error) } };
  return api === "anthropic" ? anthropicEnvelopeOf(envelope, id) : envelope;
}

/** Formats a gateway error for OpenAI SDKs (`error`) and training clients (`detail`). */
export function envelopeOf({ code, issues, message, facts }: AppError): ErrorEnvelope {
  const type = /^upstream_(?!not_configured)/.test(code)
    ? "upstream_error"
    : errorTypeOf(statusOf({ code }), "server_error");
  if (issues.length === 0) return { error: { message, type, param: null, code, ...facts }, detail: message };
  return { error: { ...describeIssues(issues), type, code }, detail: issues };
}

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "insufficient_quota"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [429, "rate_limit_error"],
]);

/** Returns OpenAI's type of an error with a status. `failure`: that of a server. */
export function errorTypeOf(status: number, failure: "server_error" | "upstream_error"): string {
  return TYPES.get(status) ?? (status >= 500 ? failure : "invalid_request_error");
}

/** Describes the first issue, and counts the others. */
export function describeIssues([first, ...others]: readonly Issue[]): Pick<ErrorObject, "message" | "param"> {
  const { loc = [], msg = "" } = first ?? {};
  const param = loc.length < 2 ? null : loc.slice(1).join(".");
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return { message: `${param === null ? "" : `${param}: `}${msg}${more}`, param };
}

/** Google's names of statuses; any other is that of its class. Source: google.rpc.Code. */
const GOOGLE_STATUS = new Map([
  [401, "UNAUTHENTICATED"],
  [402, "RESOURCE_EXHAUSTED"],
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
  const name = GOOGLE_STATUS.get(status) ?? (status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE");
  return { code: status, message, status: name };
}

/** Adds the facts of an error as Google does. Source: google.rpc.ErrorInfo. */
function googleDetails({ code, facts }: AppError) {
  if (Object.keys(facts).length === 0) return {};
  const type = "type.googleapis.com/google.rpc.ErrorInfo";
  return { details: [{ "@type": type, reason: code, domain: "sumtree", metadata: facts }] };
}

function anthropicEnvelopeOf({ error, detail }: ErrorEnvelope, requestId: string) {
  const type = error.code === "payload_too_large" ? "request_too_large" : anthropicTypeOf(error.type);
  return { type: "error", error: { ...error, type }, request_id: requestId, detail };
}

/** Maps an error type to Anthropic's name. */
export function anthropicTypeOf(type: string): string {
  if (type === "insufficient_quota") return "billing_error";
  return type === "server_error" || type === "upstream_error" ? "api_error" : type;
}

/** Formats an error event of a chat stream. */
export function errorFrame(error: ErrorObject): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}
