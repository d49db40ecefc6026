import { z } from "zod";
import { param, sql, type Sql } from "../../query/sql.ts";
import { parseToken, printToken } from "../../http/page-token.ts";
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

const place = z.tuple([z.enum(["asc", "desc"]), z.int(), z.string(), z.string()]);

export function tokenAfter({ startedAtUs, id, traceId }: CallRowKey, { order, selection }: Pages): string {
  return printToken([order, startedAtUs, id, traceId], selection);
}

/** Decodes a token. Throws `validation` for an invalid token or one of another selection. */
export function readToken(token: string, selection: string): Cursor {
  const [order, startedAtUs, id, traceId] = parseToken(token, { place, selection });
  return { order, startedAtUs, id, traceId };
}

/** SQL condition: calls after the cursor. */
export function isAfter({ order, startedAtUs, id, traceId }: Cursor): Sql {
  const at = sql`fromUnixTimestamp64Micro(${param("Int64", startedAtUs)}, 'UTC')`;
  const [ids, traceIds] = [param("String", id), param("String", traceId)];
  return order === "asc"
    ? sql`(started_at > ${at} OR (started_at = ${at} AND (id > ${ids} OR (id = ${ids} AND trace_id > ${traceIds}))))`
    : sql`(started_at < ${at} OR (started_at = ${at} AND (id < ${ids} OR (id = ${ids} AND trace_id < ${traceIds}))))`;
}
