import type { Api } from "../apis/endpoint-paths.ts";
import type { Credential } from "./headers.ts";

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
