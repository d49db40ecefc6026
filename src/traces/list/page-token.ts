import { createHash } from "node:crypto";
import { z } from "zod";
import { invalid } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { Rank } from "./order.ts";

/** Place in a list: the end of its window, which a request may leave open, and its last trace. */
export interface PagePlace {
  /** Microseconds since the epoch. */
  readonly endUs: number;
  readonly last: Rank;
}

const fields = z.tuple([z.string(), z.number(), z.boolean(), z.string().regex(/^-?\d{1,38}$/), z.string()]);

/** Hashes a request; equal for equal requests. */
export function digestOf(request: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(request)).digest("base64url").slice(0, 16);
}

/** Prints a page token. `digest`: of the request. */
export function pageToken({ endUs, last }: PagePlace, digest: string): string {
  const { isUnknown, value, traceId } = last;
  return Buffer.from(JSON.stringify([digest, endUs, isUnknown, String(value), traceId])).toString(
    "base64url",
  );
}

/** Parses a page token. Errors: validation if it is invalid, or of another request. */
export function readPageToken(token: string, digest: string): PagePlace {
  const read = fields.safeParse(parsed(token));
  if (!read.success) throw refused("This is no page token");
  const [written, endUs, isUnknown, value, traceId] = read.data;
  if (written !== digest) throw refused("Page token of another request");
  return { endUs, last: { isUnknown, value: BigInt(value), traceId } };
}

function refused(msg: string) {
  return invalid([{ loc: ["body", "page_token"], msg, type: "page_token" }]);
}

function parsed(token: string): unknown {
  try {
    return parseJson(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}
