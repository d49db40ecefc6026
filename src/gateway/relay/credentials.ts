import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { keyIdOf } from "../../http/auth/api-key.ts";
import { apiOfPath, type Api } from "../apis/endpoint-paths.ts";

const OUR_KEY = "x-sumtree-key";
const CREDENTIALS = ["authorization", "x-api-key", "x-goog-api-key"] as const;
/** Sent by clients without a key. */
const EMPTY = /^(?:bearer|basic)?\s*$/i;

/** Upstream credential header. */
export interface Credential {
  readonly header: (typeof CREDENTIALS)[number];
  readonly value: string;
}

const KEY_HEADERS = { anthropic: "x-api-key", gemini: "x-goog-api-key" } as const;

/** Builds the credential: the API key in its API's header, else user and password of the URL. */
export function credentialOf(url: URL, apiKey: string | undefined, api: Api): Credential | undefined {
  if (api !== "openai" && apiKey !== undefined) return { header: KEY_HEADERS[api], value: apiKey };
  const value = authorizationOf(url, apiKey);
  return value === undefined ? undefined : { header: "authorization", value };
}

/** Returns the upstream's credentials: its key, and what is secret in its URL. */
export function upstreamSecrets({
  url,
  apiKey,
}: {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
}): string[] {
  if (url === undefined) return apiKey === undefined ? [] : [apiKey];
  const base = new URL(url);
  const basic = authorizationOf(base, undefined)?.slice("Basic ".length);
  const password = decodeURIComponent(base.password);
  const query = [
    ...base.searchParams.values(),
    ...base.search.split("&").map((one) => one.slice(one.indexOf("=") + 1)),
  ];
  return [apiKey, basic, password, ...query].filter((secret) => secret !== undefined);
}

function authorizationOf({ username, password }: URL, apiKey: string | undefined): string | undefined {
  if (apiKey !== undefined) return `Bearer ${apiKey}`;
  if (username === "" && password === "") return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

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
export function ownCredentials(client: IncomingHttpHeaders): Record<string, string> | undefined {
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
export function secretsOf(client: IncomingHttpHeaders): string[] {
  const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey, [OUR_KEY]: ours } = client;
  const sent =
    ours === undefined ? [/^\S+ +(\S+)/.exec(authorization ?? "")?.[1], apiKey, googleKey] : [ours];
  return sent.flat().filter((secret): secret is string => secret !== undefined && secret !== "");
}
