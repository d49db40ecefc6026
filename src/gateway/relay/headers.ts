import type { IncomingHttpHeaders } from "node:http";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Request headers that pass upstream. All others do not: keys, cookies, hop-by-hop and proxy headers. */
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
  "x-client-request-id",
]);
const REQUEST_PREFIXES = ["openai-", "x-stainless-"];

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
  "x-request-id",
  "x-should-retry",
]);
const RESPONSE_PREFIXES = ["openai-", "x-ratelimit-"];

export interface UpstreamHeaderOptions {
  /** Replaces the client's. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** Length of the body sent upstream; undefined if it is unknown or there is none. */
  readonly contentLength: number | undefined;
  /** The gateway reads the response, so it must not be compressed. */
  readonly identity: boolean;
}

/**
 * The headers of the upstream request. It drops headers that the client's `Connection` names, which are hop-by-hop, and
 * any header that contains the client's secret.
 */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  { authorization, requestId, contentLength, identity }: UpstreamHeaderOptions,
): Record<string, string | string[]> {
  const secret = secretOf(client.authorization);
  const headers = pick(client, REQUEST_HEADERS, REQUEST_PREFIXES);
  if (secret !== undefined) {
    for (const [name, value] of Object.entries(headers)) {
      if (String(value).includes(secret)) delete headers[name];
    }
  }
  headers["x-request-id"] = requestId;
  if (authorization !== undefined) headers["authorization"] = authorization;
  if (contentLength !== undefined) headers["content-length"] = String(contentLength);
  if (identity) headers["accept-encoding"] = "identity";
  return headers;
}

/** The headers of the response to the client. */
export function clientHeaders(upstream: IncomingHttpHeaders): Record<string, string | string[]> {
  const headers = pick(upstream, RESPONSE_HEADERS, RESPONSE_PREFIXES);
  if (isEventStream(upstream["content-type"])) {
    headers["cache-control"] = "no-cache";
    headers["x-accel-buffering"] = "no";
  }
  return headers;
}

export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(contentType ?? "");
}

export function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/(\S+\+)?json\s*(;|$)/i.test(contentType ?? "");
}

export function isIdentity(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || /^\s*(identity)?\s*$/i.test(contentEncoding);
}

function pick(from: Headers, names: ReadonlySet<string>, prefixes: readonly string[]) {
  const hopByHop = hopByHopOf(from["connection"]);
  const picked: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(from)) {
    const listed = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
    if (listed && value !== undefined && !hopByHop.has(name)) picked[name] = value;
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

function secretOf(authorization: string | undefined): string | undefined {
  return /^\S+ +(\S+)/.exec(authorization ?? "")?.[1];
}
