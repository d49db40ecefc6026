import { createHash } from "node:crypto";
import { z } from "zod";
import { invalid } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { Ranked } from "./order.ts";

const fields = z.tuple([z.string(), z.tuple([z.number(), z.number()]).nullable(), z.string()]);

/** Hashes a request; equal for equal requests. */
export function digestOf(query: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 16);
}

/** Prints a page token. `of`: hash of the request. */
export function tokenAfter({ rank, traceId }: Ranked, of: string): string {
  return Buffer.from(JSON.stringify([of, rank, traceId])).toString("base64url");
}

/** Parses a page token. Errors: validation if it is invalid, or of another request. */
export function readToken(token: string, of: string): Ranked {
  const read = fields.safeParse(parsed(token));
  if (!read.success) throw refused("This is no token of a page");
  const [written, rank, traceId] = read.data;
  if (written !== of) throw refused("Page token of another request");
  return { rank, traceId };
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
