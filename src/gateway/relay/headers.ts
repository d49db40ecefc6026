import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { keyIdOf } from "../../http/auth/api-key.ts";
import { apiOfPath } from "../apis/endpoint-paths.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

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
const REQUEST_PREFIXES = ["openai-", "x-openai-", "x-stainless-", "anthropic-", "x-anthropic-", "x-codex-"];

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
const RESPONSE_PREFIXES = ["openai-", "x-openai-", "x-ratelimit-", "anthropic-", "x-codex-", "x-gemini-"];

/** Upstream credential header. */
export interface Credential {
  readonly header: (typeof CREDENTIALS)[number];
  readonly value: string;
}

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
  for (const secret of secretsOf(client)) {
    for (const [name, value] of Object.entries(headers)) {
      if (String(value).includes(secret)) delete headers[name];
    }
  }
  headers["x-request-id"] = requestId;
  if (own !== undefined) Object.assign(headers, own);
  else if (credential !== undefined) headers[credential.header] = credential.value;
  if (contentLength !== undefined) headers["content-length"] = String(contentLength);
  return headers;
}

/** Builds the response headers for the client. */
export function clientHeaders(upstream: IncomingHttpHeaders): Record<string, string | string[]> {
  const headers = pick(upstream, RESPONSE_HEADERS, RESPONSE_PREFIXES);
  if (isEventStream(upstream["content-type"])) {
    headers["cache-control"] = "no-cache";
    headers["x-accel-buffering"] = "no";
  }
  return headers;
}

/** Returns the provider's id of a request: Anthropic sends `request-id`, OpenAI `x-request-id`. */
export function upstreamRequestIdOf(upstream: IncomingHttpHeaders): string | undefined {
  return [upstream["request-id"], upstream["x-request-id"]].flat().find((id) => id !== undefined);
}

export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(contentType ?? "");
}

export function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/(\S+\+)?json\s*(;|$)/i.test(contentType ?? "");
}

/** True if a header names a character set other than UTF-8 or a part of it. */
export function hasOddCharset(header: string): boolean {
  return /charset/i.test(header.replace(/;\s*charset="?(?:utf-?8|us-ascii)"?\s*(?=;|$)/gi, ""));
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

const OUR_KEY = "x-sumtree-key";
const CREDENTIALS = ["authorization", "x-api-key", "x-goog-api-key"] as const;
/** Sent by clients without a key. */
const EMPTY = /^(?:bearer|basic)?\s*$/i;

/** True if the client sends its own upstream credentials; Google's clients may send them in the query. */
export function hasOwnCredentials({ headers, url }: Pick<FastifyRequest, "headers" | "url">): boolean {
  return ownCredentials(headers) !== undefined || queryKeysOf(url).length > 0;
}

/** Returns the keys in the query of a path of Gemini's API. */
function queryKeysOf(url: string): readonly string[] {
  const at = url.indexOf("?");
  return at === -1 || apiOfPath(url) !== "gemini" ? [] : new URLSearchParams(url.slice(at)).getAll("key");
}

/**
 * Moves the key in the query of a path of Gemini's API to a header, so that it reaches no upstream. Beside `x-sumtree-key`,
 * the client's own key stays.
 */
export function withoutQueryKey(client: IncomingHttpHeaders, url: string): string {
  if (queryKeysOf(url).length === 0) return url;
  const ours = client[OUR_KEY];
  const [path = "", ...query] = url.split("?");
  const kept = query
    .join("?")
    .split("&")
    .filter((parameter) => {
      const [name, value = ""] = [...new URLSearchParams(parameter)][0] ?? [];
      if (name !== "key") return true;
      if (ours === undefined) client["x-goog-api-key"] ??= value;
      return ours !== undefined && !isOurs(value, ours);
    });
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

/** Returns the client's upstream credentials, sent besides `x-sumtree-key`. */
function ownCredentials(client: IncomingHttpHeaders): Record<string, string> | undefined {
  const ours = client[OUR_KEY];
  if (ours === undefined) return undefined;
  const own = CREDENTIALS.flatMap((name) => {
    const value = client[name];
    return typeof value === "string" && !EMPTY.test(value) && !isOurs(value, ours) ? [[name, value]] : [];
  });
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** True for a sumtree key, which is never forwarded, in whatever header it is sent. */
function isOurs(credential: string, ours: string | string[]): boolean {
  return credential.split(/\s+/).some((word) => [ours].flat().includes(word) || keyIdOf(word) !== undefined);
}

/** Returns the sumtree keys in all headers that may carry one. */
function secretsOf(client: IncomingHttpHeaders): string[] {
  const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey, [OUR_KEY]: ours } = client;
  const sent =
    ours === undefined ? [/^\S+ +(\S+)/.exec(authorization ?? "")?.[1], apiKey, googleKey] : [ours];
  return sent.flat().filter((secret): secret is string => secret !== undefined && secret !== "");
}
