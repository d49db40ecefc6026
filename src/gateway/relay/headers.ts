import type { IncomingHttpHeaders } from "node:http";
import { ownCredentials, secretsOf, type Credential } from "./credentials.ts";

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Request headers forwarded upstream. All others are dropped: keys, cookies, hop-by-hop and proxy headers. */
const REQUEST_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-digest",
  "content-encoding",
  "content-language",
  "content-md5",
  "content-type",
  "digest",
  "idempotency-key",
  "prefer",
  "range",
  "traceparent",
  "tracestate",
  "user-agent",
  "version",
  "chatgpt-account-id",
  "originator",
  "session-id",
  "session_id",
  "thread-id",
  "x-app",
  "x-client-request-id",
  "x-goog-api-client",
  "x-server-timeout",
]);
const REQUEST_PREFIXES = /^(?:(?:x-)?(?:openai|anthropic)|x-stainless|x-codex)-/;

const RESPONSE_HEADERS = new Set([
  "accept-ranges",
  "allow",
  "cache-control",
  "content-digest",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
  "deprecation",
  "digest",
  "etag",
  "last-modified",
  "link",
  "location",
  "retry-after",
  "retry-after-ms",
  "sunset",
  "vary",
  "request-id",
  "x-models-etag",
  "x-reasoning-included",
  "x-request-id",
  "x-should-retry",
]);
const RESPONSE_PREFIXES = /^(?:(?:x-)?openai|anthropic|x-ratelimit|x-codex|x-gemini)-/;

export interface UpstreamHeaderOptions {
  /** Replaces the client's credential. */
  readonly credential: Credential | undefined;
  readonly requestId: string;
  /** Length of the body sent upstream; undefined if unknown or without body. */
  readonly contentLength: number | undefined;
}

/**
 * Builds the upstream request headers. Drops headers named by the client's `Connection` (hop-by-hop) and any header
 * containing the client's API key.
 */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  { credential, requestId, contentLength }: UpstreamHeaderOptions,
): Record<string, string | string[]> {
  const headers = pick(client, REQUEST_HEADERS, REQUEST_PREFIXES);
  const own = ownCredentials(client);
  const secrets = secretsOf(client);
  for (const name in headers)
    if (secrets.some((secret) => String(headers[name]).includes(secret))) delete headers[name];
  headers["x-request-id"] = requestId;
  if (own !== undefined) Object.assign(headers, own);
  else if (credential !== undefined) headers[credential.header] = credential.value;
  if (contentLength !== undefined) headers["content-length"] = String(contentLength);
  return headers;
}

/** Builds the response headers for the client. */
export function clientHeaders(upstream: Headers): Record<string, string | string[]> {
  const headers = pick(upstream, RESPONSE_HEADERS, RESPONSE_PREFIXES);
  if (isEventStream(upstream["content-type"])) {
    headers["cache-control"] = "no-cache";
    headers["x-accel-buffering"] = "no";
  }
  return headers;
}

/** Returns the provider's id of a request: Anthropic sends `request-id`, OpenAI `x-request-id`. */
export function upstreamRequestIdOf(upstream: Headers): string | undefined {
  return [upstream["request-id"], upstream["x-request-id"]].flat().find((id) => id !== undefined);
}

export function isEventStream(contentType: Headers[string]): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(String(contentType));
}

export function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/(\S+\+)?json\s*(;|$)/i.test(contentType ?? "");
}

/** True if a header names a character set other than UTF-8 or a part of it. */
export function hasOddCharset(header: string): boolean {
  return /charset/i.test(header.replace(/;\s*charset="?(?:utf-?8|us-ascii)"?\s*(?=;|$)/gi, ""));
}

function pick(from: Headers, names: ReadonlySet<string>, prefixes: RegExp) {
  const hopByHop = hopByHopOf(from["connection"]);
  const picked: Record<string, string | string[]> = {};
  for (const name in from) {
    const value = from[name];
    const isListed = names.has(name) || prefixes.test(name);
    if (isListed && value !== undefined && !hopByHop.has(name)) picked[name] = value;
  }
  return picked;
}

const NO_NAMES: ReadonlySet<string> = new Set();

function hopByHopOf(connection: string | string[] | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === "keep-alive") return NO_NAMES;
  return new Set(
    String(connection)
      .split(",")
      .map((name) => name.trim().toLowerCase()),
  );
}
