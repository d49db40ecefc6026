import { targetUnder, type UpstreamBase } from "./upstream-path.ts";

/** Where an upstream redirects a request. */
export interface Redirect {
  /** The path under the upstream's base, without the parameters of that; undefined if it is elsewhere. */
  readonly path: string | undefined;
  /** A client that follows would come back with the same request, and be redirected again. */
  readonly isEndless: boolean;
  /** The base URL with https, if it leads there. */
  readonly upgrade: string | undefined;
}

interface Redirected {
  readonly method: string;
  /** The target that was sent. */
  readonly target: string;
  readonly status: number;
  readonly location: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Reads the `Location` of a response of the upstream. */
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
  // a server behind a TLS proxy calls itself http, but another port is another server
  const isHere = leads.host === base.url.host;
  const isRepeated = isUpgrade || (isHere && keepsMethod(method, status));
  return {
    path: isHere ? path : undefined,
    isEndless: isSame && REDIRECTS.has(status) && isRepeated,
    upgrade: isUpgrade ? leads.origin + base.path : undefined,
  };
}

/** Source: Fetch standard, HTTP-redirect fetch. */
function keepsMethod(method: string, status: number): boolean {
  if (status === 303) return method === "GET" || method === "HEAD";
  return status === 307 || status === 308 || method !== "POST";
}
