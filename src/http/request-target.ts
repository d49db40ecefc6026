import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import { AppError } from "../shared/errors.ts";

/** A path of plain segments, which needs no second look, and a query. */
const PLAIN = /^(?:\/(?!\.)[\w.~:@!$&'()*+,=-]+)+\/?(?:\?[\x21-\x22\x24-\x7e]*)?$/;

/**
 * The one reading of a request's target: routes, rules and the gateway see nothing else. An absolute form loses its
 * origin, doubled slashes become one, and an escape stays only where its character needs one. The Weave SDKs make
 * `https://HOST/traces` of a host's name, so every route is there as well. Source: RFC 9110, 4.2.3; npm `weave` 0.11.1,
 * its handling of WANDB_BASE_URL. Errors: undefined when a segment is `.` or `..` in any spelling.
 */
export function readTarget(target: string): string | undefined {
  if (PLAIN.test(target) && !target.startsWith("/traces/")) return target;
  const local = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  if (local !== target && !local.startsWith("/")) return readTarget(`/${local}`);
  if (!local.startsWith("/")) return target;

  const question = local.indexOf("?");
  const path = question === -1 ? local : local.slice(0, question);
  if (climbs(path)) return undefined;
  const read = withoutTracesPrefix(normalised(path));
  return question === -1 ? read : read + escaped(local.slice(question));
}

/** For `rewriteUrl`, which cannot refuse: `registerTargets` does. */
export function rewriteTarget(request: IncomingMessage): string {
  const target = request.url ?? "/";
  return readTarget(target) ?? target;
}

/** Refuses what `readTarget` refuses. */
export function registerTargets(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const isRefused = readTarget(request.originalUrl) === undefined;
    done(isRefused ? new AppError("not_found", "There is nothing here.") : undefined);
  });
}

/** The characters that never need an escape. Source: RFC 3986, 2.3. */
const UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

function normalised(path: string): string {
  // a broken escape is for the router to refuse
  if (/%(?![\da-f]{2})/i.test(path)) return path;
  const plain = path.replaceAll(UNRESERVED, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
  return escaped(plain).replaceAll(/\/{2,}/g, "/");
}

/** Bytes that may not stand in a target as they are, and the sign of a fragment, which a request has none of. */
function escaped(text: string): string {
  return text.replaceAll(/[^\x21\x22\x24-\x7e]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

function withoutTracesPrefix(path: string): string {
  return path.startsWith("/traces/") ? path.slice("/traces".length) : path;
}

/** Whether a server behind us could take a segment for `.` or `..`: decoded twice, or without its parameters. */
function climbs(path: string): boolean {
  let plain = path;
  for (let times = 0; times < 3; times++) {
    plain = plain.replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return plain.split(/[/\\]/).some((segment) => /^[\0- ]*\.{1,2}(?:[\0- ;?#]|$)/.test(segment));
}
