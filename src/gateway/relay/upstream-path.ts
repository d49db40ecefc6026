/**
 * The path to ask upstream for: everything behind our `/v1`, character for character, under the upstream's own
 * base path. Errors: undefined when a segment is `.` or `..` in any spelling, which could leave that base path.
 */
export function upstreamPath(basePath: string, url: string): string | undefined {
  const rest = url.slice("/v1".length);
  const question = rest.indexOf("?");
  const path = question === -1 ? rest : rest.slice(0, question);
  if (path.split(/\/|\\|%2f|%5c/i).some(isDotSegment)) return undefined;
  return basePath + rest;
}

/** Both forms of the chat path go upstream as the one without the slash, which every server knows. */
export function chatPath(basePath: string, url: string): string {
  const question = url.indexOf("?");
  return `${basePath}/chat/completions${question === -1 ? "" : url.slice(question)}`;
}

/** Where a redirect of the upstream leads as seen through the gateway. One to somewhere else stays as it is. */
export function clientLocation(location: string, upstreamBase: URL): string {
  const target = URL.parse(location, upstreamBase.origin);
  if (target === null || target.origin !== upstreamBase.origin) return location;
  const base = basePathOf(upstreamBase);
  if (!target.pathname.startsWith(`${base}/`)) return location;
  return `/v1${target.pathname.slice(base.length)}${target.search}`;
}

/** A base URL's path without its final slash. */
export function basePathOf(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}

function isDotSegment(segment: string): boolean {
  const plain = segment.replaceAll(/%2e/gi, ".");
  return plain === "." || plain === "..";
}
