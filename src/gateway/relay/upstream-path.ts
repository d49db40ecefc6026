/** The path to ask upstream for: everything behind our `/v1`, under the upstream's own base path. */
export function upstreamPath(basePath: string, url: string): string {
  return basePath + url.slice("/v1".length);
}

/** The same for chat: `path` is the form that this upstream takes, whichever the client used. */
export function chatPath(basePath: string, path: string, url: string): string {
  const question = url.indexOf("?");
  return basePath + path + (question === -1 ? "" : url.slice(question));
}

/** Where a `Location` leads under the upstream's base. Undefined: somewhere else. */
export function pathUnder(upstreamBase: URL, location: string): string | undefined {
  const target = URL.parse(location, upstreamBase.origin);
  // a server behind a proxy that ends TLS calls itself http
  if (target === null || target.host !== upstreamBase.host) return undefined;
  const base = basePathOf(upstreamBase);
  if (!target.pathname.startsWith(`${base}/`)) return undefined;
  return target.pathname.slice(base.length) + target.search;
}

/** A base URL's path without its final slash. */
export function basePathOf(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}
