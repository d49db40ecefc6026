import { targetUnder, type UpstreamBase } from "./upstream-path.ts";

/** Parsed redirect of an upstream. */
export interface Redirect {
  /** Path under the upstream's base URL, without the base's query; `undefined` if outside it. */
  readonly path: string | undefined;
  /** A client that follows it would send the same request here again. */
  readonly isEndless: boolean;
  /** Base URL with https, if the redirect only upgrades to it. */
  readonly upgrade: string | undefined;
}

interface Redirected {
  readonly method: string;
  /** Request target sent. */
  readonly target: string;
  readonly status: number;
  readonly location: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Parses the `Location` of an upstream response. */
export function readRedirect(base: UpstreamBase, { method, target, status, location }: Redirected): Redirect {
  const sent = new URL(target, base.url.origin);
  const leads = URL.parse(location, sent.href);
  if (leads === null || leads.hostname !== base.url.hostname || !leads.pathname.startsWith(`${base.path}/`)) {
    return { path: undefined, isEndless: false, upgrade: undefined };
  }
  const isUpgrade = base.url.protocol === "http:" && leads.protocol === "https:";
  const own = base.parameters.map(({ text }) => text);
  const query = leads.search.slice(1).split("&");
  const others = query.filter((text) => text !== "" && !own.includes(text));
  const path = leads.pathname.slice(base.path.length) + (others.length === 0 ? "" : `?${others.join("&")}`);
  const isSame = new URL(targetUnder(base, path), base.url.origin).href === sent.href;
  // a server behind a TLS proxy names itself http, but another port is another server
  const isHere = leads.host === base.url.host;
  const isRepeated = isUpgrade || (isHere && keepsMethod(method, status));
  return {
    path: isHere ? path : undefined,
    isEndless: isSame && REDIRECTS.has(status) && isRepeated,
    upgrade: isUpgrade ? leads.origin + base.path : undefined,
  };
}

/** True if clients repeat the method. Source: Fetch standard, HTTP-redirect fetch. */
function keepsMethod(method: string, status: number): boolean {
  if (status === 303) return method === "GET" || method === "HEAD";
  return status === 307 || status === 308 || method !== "POST";
}
