import { z } from "zod";
import { parseToken, tokenError } from "../../calls/read/page-token.ts";
import type { Rank } from "./order.ts";

/** Place in a list: the end of its window, which a request may leave open, and its last trace. */
export interface PagePlace {
  /** Microseconds since the epoch. */
  readonly endUs: number;
  readonly last: Rank;
}

const fields = z.tuple([z.string(), z.int(), z.boolean(), z.string().regex(/^-?\d{1,38}$/), z.string()]);

/** Prints a page token. `digest`: `selectionHash` of the request. */
export function pageToken({ endUs, last }: PagePlace, digest: string): string {
  const { isUnknown, value, traceId } = last;
  return Buffer.from(JSON.stringify([digest, endUs, isUnknown, String(value), traceId])).toString(
    "base64url",
  );
}

/** Parses a page token. Errors: validation if it is invalid, or of another request. */
export function readPageToken(token: string, digest: string): PagePlace {
  const read = fields.safeParse(parseToken(token));
  if (!read.success) throw tokenError("This is no page token");
  const [written, endUs, isUnknown, value, traceId] = read.data;
  if (written !== digest) throw tokenError("Page token of another request");
  return { endUs, last: { isUnknown, value: BigInt(value), traceId } };
}
