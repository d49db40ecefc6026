import { createHash } from "node:crypto";
import type { z } from "zod";
import { invalid, type AppError } from "../shared/errors.ts";
import { parseOrUndefined } from "../shared/json.ts";

export interface TokenOptions<Place> {
  readonly place: z.ZodType<Place>;
  /** `selectionHash` of the query that the token must be of. */
  readonly selection: string;
  readonly from?: "body" | "query";
}

/** Hashes a selection to 16 characters. */
export function selectionHash(selection: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(selection)).digest("base64url").slice(0, 16);
}

/** Prints a token for the page after a place. `selection`: `selectionHash` of the query. */
export function printToken(place: readonly unknown[], selection: string): string {
  return Buffer.from(JSON.stringify([selection, ...place])).toString("base64url");
}

/** Parses a token. Throws `validation` if it is none, or of another selection. */
export function parseToken<Place>(text: string, { place, selection, from }: TokenOptions<Place>): Place {
  const token: unknown = parseOrUndefined(Buffer.from(text, "base64url").toString());
  const [written, ...rest]: readonly unknown[] = Array.isArray(token) ? token : [];
  const read = place.safeParse(rest);
  if (!read.success) throw tokenError("Invalid page token", from);
  if (written !== selection) throw tokenError("This token belongs to another query", from);
  return read.data;
}

/** Error of a page token, of type `validation`. */
export function tokenError(msg: string, from: "body" | "query" = "body"): AppError {
  return invalid([{ loc: [from, "page_token"], msg, type: "page_token" }]);
}
