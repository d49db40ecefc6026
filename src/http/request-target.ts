import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import { AppError } from "../shared/errors.ts";

/** Capacity for two names of 128 characters, of nine bytes each as escapes. */
const MAX_PATH_BYTES = 2560;
const MAX_TARGET_BYTES = 8192;

const TOO_LONG = `A path may have ${MAX_PATH_BYTES} bytes, and ${MAX_TARGET_BYTES} with its query.`;

/** A path of plain segments and a query: already in its normal form. */
const PLAIN = /^(?:\/(?!\.)[\w.~:@!$&'()*+,=-]+)+\/?(?:\?[\x21-\x22\x24-\x7e]*)?$/;

/** Scheme and host of an absolute form. Source: RFC 9110, 4.2: a user or an empty host is an error. */
const ORIGIN = /^https?:\/\/(?!:)[^/?#@\\\s,]+(?=[/?#]|$)/i;

/**
 * Normalises a request's target, for routes, rules and the gateway alike. It drops the origin of an absolute form, joins
 * repeated slashes, and keeps an escape only if its character needs one. The Weave SDKs turn a host name into
 * `https://HOST/traces`, so every route exists below `/traces` as well. Source: RFC 9110, 4.2.3; WANDB_BASE_URL in npm
 * `weave` 0.11.1. Errors: undefined if it is no path, is too long, or a segment is `.` or `..` in any spelling.
 */
export function readTarget(target: string): string | undefined {
  if (isTooLong(target)) return undefined;
  if (PLAIN.test(target) && !target.startsWith("/traces/")) return target;
  const local = pathOf(target);
  if (local === undefined) return undefined;

  const question = local.indexOf("?");
  const path = question === -1 ? local : local.slice(0, question);
  if (climbs(path)) return undefined;
  const rest = question === -1 ? "" : escaped(local.slice(question));
  return withoutTracesPrefix(normalised(path)) + rest;
}

function isTooLong(target: string): boolean {
  return target.length > MAX_TARGET_BYTES || target.split("?", 1)[0]!.length > MAX_PATH_BYTES;
}

/** The target without an origin; undefined of `*`, of an authority alone, and of what is no URL of ours. */
function pathOf(target: string): string | undefined {
  if (target.startsWith("/")) return target;
  const [origin] = ORIGIN.exec(target) ?? [];
  if (origin === undefined) return undefined;
  const rest = target.slice(origin.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** For `rewriteUrl`, which cannot reject a request: `registerTargets` does. */
export function rewriteTarget(request: IncomingMessage): string {
  const target = request.url ?? "/";
  // the router would decode all of it
  if (isTooLong(target)) return target.startsWith("/v1/") ? "/v1/" : "/";
  return readTarget(target) ?? target;
}

/** Rejects the targets that `readTarget` rejects. The router would take any first character for the slash. */
export function registerTargets(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { method, originalUrl } = request;
    if (isTooLong(originalUrl)) done(new AppError("uri_too_long", TOO_LONG));
    else if (readTarget(originalUrl) !== undefined) done();
    // of the service as a whole: RFC 9110, 9.3.7
    else if (method === "OPTIONS" && originalUrl === "*") void reply.code(204).send();
    else if (pathOf(originalUrl) !== undefined) done(new AppError("not_found", "No route for this path."));
    else done(new AppError("bad_request", "The request target is not a path."));
  });
}

/** The characters that never need an escape. Source: RFC 3986, 2.3. */
const UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

function normalised(path: string): string {
  // the router rejects a broken escape
  if (/%(?![\da-f]{2})/i.test(path)) return path;
  const plain = path.replaceAll(UNRESERVED, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
  return escaped(plain).replaceAll(/\/{2,}/g, "/");
}

/** Bytes that a target must escape, and the sign of a fragment, which a request never has. */
function escaped(text: string): string {
  return text.replaceAll(/[^\x21\x22\x24-\x7e]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

function withoutTracesPrefix(path: string): string {
  return path.startsWith("/traces/") ? path.slice("/traces".length) : path;
}

/** Whether an upstream could read a segment as `.` or `..`: by decoding it twice, or by dropping its parameters. */
function climbs(path: string): boolean {
  // unlike decodeURIComponent, it leaves what is no escape, and reads bytes that are no UTF-8
  const plain = unescape(unescape(unescape(path)));
  return plain.split(/[/\\]/).some((segment) => /^[\0- ]*\.{1,2}(?:[\0- ;?#]|$)/.test(segment));
}
