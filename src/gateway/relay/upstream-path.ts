/** The upstream's path: everything after our `/v1`, under the upstream's base path. */
export function upstreamPath(basePath: string, url: string): string {
  return basePath + url.slice("/v1".length);
}

/** The upstream's path for chat: `path` in the form that this upstream accepts. */
export function chatPath(basePath: string, path: string, url: string): string {
  const question = url.indexOf("?");
  return basePath + path + (question === -1 ? "" : url.slice(question));
}

/** The path of a `Location` under the upstream's base; undefined if it is elsewhere. */
export function pathUnder(upstreamBase: URL, location: string): string | undefined {
  const target = URL.parse(location, upstreamBase.origin);
  // a server behind a TLS proxy calls itself http
  if (target === null || target.host !== upstreamBase.host) return undefined;
  const base = basePathOf(upstreamBase);
  if (!target.pathname.startsWith(`${base}/`)) return undefined;
  return target.pathname.slice(base.length) + target.search;
}

/** A base URL's path, without a final slash. */
export function basePathOf(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}
