import type { Api } from "../apis/endpoint-paths.ts";

/** Parsed base URL of an upstream. */
export interface UpstreamBase {
  readonly url: URL;
  /** Without trailing slash. */
  readonly path: string;
  /** Query parameters, unparsed. */
  readonly parameters: readonly Parameter[];
}

interface Parameter {
  readonly name: string;
  readonly text: string;
}

export function readBase(text: string): UpstreamBase {
  const url = new URL(text);
  return { url, path: url.pathname.replace(/\/+$/, ""), parameters: parametersOf(url.search.slice(1)) };
}

/** Builds the request target of a path and query under the base URL. Query parameters of the path override the base's. */
export function targetUnder(base: UpstreamBase, path: string): string {
  if (base.parameters.length === 0) return base.path + path;
  const at = path.indexOf("?");
  const named = new Set(parametersOf(at === -1 ? "" : path.slice(at + 1)).map(({ name }) => name));
  const added = base.parameters.filter(({ name }) => !named.has(name)).map(({ text }) => text);
  if (added.length === 0) return base.path + path;
  return `${base.path}${path}${at === -1 ? "?" : "&"}${added.join("&")}`;
}

/** Removes `/v1`, but no other version, from a request's path and query. */
export function pathBehindPrefix(url: string): string {
  return url.replace(/^\/v1(?=[/?]|$)/, "");
}

/** Returns path and query to request of an upstream: its URL has the version, except that of Gemini's API. */
export function pathAt({ api }: { readonly api: Api }, url: string): string {
  return api === "gemini" ? url : pathBehindPrefix(url);
}

/** Appends the query of a request URL to `path`. */
export function withQueryOf(url: string, path: string): string {
  const at = url.indexOf("?");
  return at === -1 ? path : path + url.slice(at);
}

function parametersOf(query: string): Parameter[] {
  const texts = query.split("&").filter((text) => text !== "");
  return texts.map((text) => ({ name: [...new URLSearchParams(text).keys()][0] ?? "", text }));
}
