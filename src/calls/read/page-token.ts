import { createHash } from "node:crypto";
import { z } from "zod";
import { param, sql, type Sql } from "../../query/sql.ts";
import { invalid } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { CallRowKey } from "./call-keys.ts";

export type TimeOrder = "asc" | "desc";

/** Pages of which calls, in which order. */
export interface Pages {
  readonly order: TimeOrder;
  /** Of what selects the calls, as `digestOf`. */
  readonly selection: string;
}

/** The last call of a page. The next page begins after it. */
export interface Cursor {
  readonly order: TimeOrder;
  readonly startedAtUs: number;
  readonly id: string;
  readonly traceId: string;
}

/** A token of two ids of 512 characters, the longest that are stored, is shorter. */
export const MAX_TOKEN_LENGTH = 10_000;

const fields = z.tuple([z.enum(["asc", "desc"]), z.int(), z.string(), z.string(), z.string()]);

export function tokenAfter({ startedAtUs, id, traceId }: CallRowKey, { order, selection }: Pages): string {
  return Buffer.from(JSON.stringify([order, startedAtUs, id, traceId, selection])).toString("base64url");
}

/** Errors: validation, if it is not one of ours, or of other calls: after its call, theirs would be incomplete. */
export function readToken(token: string, ofSelection: string): Cursor {
  const read = fields.safeParse(parsed(token));
  if (!read.success) throw refusedToken("This is no token of a page");
  const [order, startedAtUs, id, traceId, selection] = read.data;
  if (selection !== ofSelection) throw refusedToken("This page is of another project, filter or query");
  return { order, startedAtUs, id, traceId };
}

/** Short, and equal for equal selections. */
export function selectionHash(selection: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(selection)).digest("base64url").slice(0, 16);
}

export function refusedToken(msg: string) {
  return invalid([{ loc: ["body", "page_token"], msg, type: "page_token" }]);
}

function parsed(token: string): unknown {
  try {
    return parseJson(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** True for the calls after it. */
export function isAfter({ order, startedAtUs, id, traceId }: Cursor): Sql {
  const at = sql`fromUnixTimestamp64Micro(${param("Int64", startedAtUs)}, 'UTC')`;
  const [ids, traceIds] = [param("String", id), param("String", traceId)];
  return order === "asc"
    ? sql`(started_at > ${at} OR (started_at = ${at} AND (id > ${ids} OR (id = ${ids} AND trace_id > ${traceIds}))))`
    : sql`(started_at < ${at} OR (started_at = ${at} AND (id < ${ids} OR (id = ${ids} AND trace_id < ${traceIds}))))`;
}
