import type { FastifyInstance } from "fastify";
import { AppError } from "../shared/errors.ts";

/** Matches escapes of characters that never need one. Source: RFC 3986, 2.3. */
const UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** Routes under `/traces`, which is also a prefix of the routes of the Weave SDKs. */
const TRACE_ROUTES = /^\/traces\/(?:query|facets)\/?$/;

/**
 * Normalizes a request target, once for routing and relaying: without the origin of an absolute form, repeated slashes and
 * needless escapes in its path. The Weave SDKs turn a host name into `https://HOST/traces`, so every route exists below
 * `/traces` too. Source: RFC 9110, 4.2.3; WANDB_BASE_URL in npm `weave` 0.11.1.
 */
export function normalizeTarget(target: string): string {
  // a request has no fragment
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)(.*)$/i.exec(
    target.replaceAll("#", "%23"),
  )!;
  const plain = `/${path.replaceAll(UNRESERVED, decodeURIComponent)}`.replaceAll(/\/{2,}/g, "/");
  const isPrefixed = plain.startsWith("/traces/") && !TRACE_ROUTES.test(plain);
  return (isPrefixed ? plain.slice("/traces".length) : plain) + query;
}

/** Returns the path of any target in plain lower case, also of an invalid one: for the format of its error only. */
export function plainPath(target: string): string {
  // unlike decodeURIComponent, it accepts invalid escapes and bytes that are not UTF-8
  return unescape(normalizeTarget(target).split("?", 1)[0]!).toLowerCase();
}

/** True below `/v1` and `/v1beta`. */
export function isBelowV1(target: string): boolean {
  return /^\/v1(?:beta)?\//.test(plainPath(target));
}

/** True if an upstream could read a segment as `.` or `..` by decoding it twice or dropping its parameters. */
export function climbs(target: string): boolean {
  const path = unescape(unescape(unescape(target.split("?", 1)[0]!)));
  return path.split(/[/\\]/).some((segment) => /^[\0- ]*\.{1,2}(?:[\0- ;?#]|$)/.test(segment));
}

export function registerTargets(app: FastifyInstance): void {
  app.addHook("onRequest", ({ url }, _reply, done) =>
    done(climbs(url) ? new AppError("not_found", "No route for this path.") : undefined),
  );
}
