import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import { AppError } from "../shared/errors.ts";

/** Fits two names of 128 characters, each escaped in nine bytes. */
const MAX_PATH_BYTES = 2560;
const MAX_TARGET_BYTES = 8192;

const TOO_LONG = `A path may have ${MAX_PATH_BYTES} bytes, and ${MAX_TARGET_BYTES} with its query.`;

/** Matches a normalized path of plain segments, and its query. */
const PLAIN = /^(?:\/(?!\.)[\w.~:@!$&'()*+,=-]+)+\/?(?:\?[\x21-\x22\x24-\x7e]*)?$/;

/** Matches scheme and host of an absolute form; userinfo or an empty host is an error. Source: RFC 9110, 4.2. */
const ORIGIN = /^https?:\/\/(?!:)[^/?#@\\\s,]+(?=[/?#]|$)/i;

/**
 * Normalizes a request target, once for routing and relaying. Drops the origin of an absolute form, joins repeated slashes,
 * and keeps an escape only if its character needs one. The Weave SDKs turn a host name into `https://HOST/traces`, so every
 * route exists below `/traces` too. Returns undefined if the target is no path, is too long, or has a segment `.` or `..` in
 * any spelling. Source: RFC 9110, 4.2.3; WANDB_BASE_URL in npm `weave` 0.11.1.
 */
export function readTarget(target: string): string | undefined {
  if (isTooLong(target)) return undefined;
  if (PLAIN.test(target) && !target.startsWith("/traces/")) return target;
  const local = pathOf(target);
  if (local === undefined) return undefined;

  const query = local.indexOf("?");
  const path = query === -1 ? local : local.slice(0, query);
  if (climbs(path)) return undefined;
  const rest = query === -1 ? "" : escaped(local.slice(query));
  return withoutTracesPrefix(normalised(path)) + rest;
}

function isTooLong(target: string): boolean {
  return target.length > MAX_TARGET_BYTES || target.split("?", 1)[0]!.length > MAX_PATH_BYTES;
}

/** Returns the target without an origin; undefined for `*`, for an authority alone, and for other schemes. */
function pathOf(target: string): string | undefined {
  if (target.startsWith("/")) return target;
  const [origin] = ORIGIN.exec(target) ?? [];
  if (origin === undefined) return undefined;
  const rest = target.slice(origin.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Implements Fastify's `rewriteUrl`, which cannot reject a request: `registerTargets` does. */
export function rewriteTarget(request: IncomingMessage): string {
  const target = request.url ?? "/";
  // the router would decode all of a long one, and take another spelling for another prefix
  return readTarget(target) ?? (isBelowV1(target) ? "/v1/" : isTooLong(target) ? "/" : target);
}

/** Returns the path of any target in plain lower case, also of an invalid one: for the format of its error only. */
export function plainPath(target: string): string {
  const [path = ""] = (pathOf(target) ?? target).split("?", 1);
  return withoutTracesPrefix(
    unescape(path)
      .replaceAll(/\/{2,}/g, "/")
      .toLowerCase(),
  );
}

/** True below `/v1` and `/v1beta`. */
export function isBelowV1(target: string): boolean {
  return /^\/v1(?:beta)?\//.test(plainPath(target));
}

/** Rejects invalid targets. The router would take any first character for a slash. */
export function registerTargets(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { method, originalUrl } = request;
    if (isTooLong(originalUrl)) done(new AppError("uri_too_long", TOO_LONG));
    else if (readTarget(originalUrl) !== undefined) done();
    // `OPTIONS *`: RFC 9110, 9.3.7
    else if (method === "OPTIONS" && originalUrl === "*") void reply.code(204).send();
    else if (pathOf(originalUrl) !== undefined) done(new AppError("not_found", "No route for this path."));
    else done(new AppError("bad_request", "The request target is not a path."));
  });
}

/** Matches characters that never need an escape. Source: RFC 3986, 2.3. */
const UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

function normalised(path: string): string {
  // the router rejects a broken escape
  if (/%(?![\da-f]{2})/i.test(path)) return path;
  const plain = path.replaceAll(UNRESERVED, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
  return escaped(plain).replaceAll(/\/{2,}/g, "/");
}

/** Matches bytes that a target must escape, and `#`, which a request never has. */
function escaped(text: string): string {
  return text.replaceAll(/[^\x21\x22\x24-\x7e]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** Routes under `/traces`, which is also a prefix of the routes of the Weave SDKs. */
const TRACE_ROUTES = /^\/traces\/(?:query|facets)\/?$/;

function withoutTracesPrefix(path: string): string {
  return path.startsWith("/traces/") && !TRACE_ROUTES.test(path) ? path.slice("/traces".length) : path;
}

/** True if an upstream could read a segment as `.` or `..` by decoding it twice or dropping its parameters. */
function climbs(path: string): boolean {
  // unlike decodeURIComponent, it accepts invalid escapes and bytes that are not UTF-8
  const plain = unescape(unescape(unescape(path)));
  return plain.split(/[/\\]/).some((segment) => /^[\0- ]*\.{1,2}(?:[\0- ;?#]|$)/.test(segment));
}
