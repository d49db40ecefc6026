import { createHash } from "node:crypto";
import { z } from "zod";
import { param, sql, type Sql } from "../../query/sql.ts";
import { invalid } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { CallRowKey } from "./call-keys.ts";

export type TimeOrder = "asc" | "desc";

/** Paginated selection and its order. */
export interface Pages {
  readonly order: TimeOrder;
  /** `selectionHash` of project, filter and query. */
  readonly selection: string;
}

/** Last call of a page, after which the next page begins. */
export interface Cursor {
  readonly order: TimeOrder;
  readonly startedAtUs: number;
  readonly id: string;
  readonly traceId: string;
}

/** Upper bound of a token with two ids of 512 characters, the maximum. */
export const MAX_TOKEN_LENGTH = 10_000;

const fields = z.tuple([z.enum(["asc", "desc"]), z.int(), z.string(), z.string(), z.string()]);

export function tokenAfter({ startedAtUs, id, traceId }: CallRowKey, { order, selection }: Pages): string {
  return Buffer.from(JSON.stringify([order, startedAtUs, id, traceId, selection])).toString("base64url");
}

/** Decodes a token. Throws `validation` for an invalid token or one of another selection. */
export function readToken(token: string, ofSelection: string): Cursor {
  const read = fields.safeParse(parseToken(token));
  if (!read.success) throw tokenError("Invalid page token");
  const [order, startedAtUs, id, traceId, selection] = read.data;
  if (selection !== ofSelection) throw tokenError("This token belongs to another project, filter or query");
  return { order, startedAtUs, id, traceId };
}

/** Hashes a selection to 16 characters. */
export function selectionHash(selection: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(selection)).digest("base64url").slice(0, 16);
}

export function tokenError(msg: string) {
  return invalid([{ loc: ["body", "page_token"], msg, type: "page_token" }]);
}

/** Parses the JSON of a token; undefined if it is none. */
export function parseToken(token: string): unknown {
  try {
    return parseJson(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** SQL condition: calls after the cursor. */
export function isAfter({ order, startedAtUs, id, traceId }: Cursor): Sql {
  const at = sql`fromUnixTimestamp64Micro(${param("Int64", startedAtUs)}, 'UTC')`;
  const [ids, traceIds] = [param("String", id), param("String", traceId)];
  return order === "asc"
    ? sql`(started_at > ${at} OR (started_at = ${at} AND (id > ${ids} OR (id = ${ids} AND trace_id > ${traceIds}))))`
    : sql`(started_at < ${at} OR (started_at = ${at} AND (id < ${ids} OR (id = ${ids} AND trace_id < ${traceIds}))))`;
}
