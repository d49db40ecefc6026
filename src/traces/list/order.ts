import { z } from "zod";
import { sql, trusted, type Sql } from "../../query/sql.ts";
import { valueColumns, valueOf, type TraceValue, type TraceWithFigures } from "../trace-values.ts";
import { parseToken, printToken } from "../../http/page-token.ts";

export type Direction = "desc" | "asc";

/** Place of a trace in an order: unknown values last, then ascending by `value` (negated in descending order) and trace id. */
export interface Rank {
  readonly isUnknown: boolean;
  readonly value: bigint;
  readonly traceId: string;
}

export interface RankedTrace extends Rank {
  readonly callCount: number;
}

export function rankOf(trace: TraceWithFigures, order: TraceValue, direction: Direction): RankedTrace {
  const value = valueOf(trace, order);
  const signed = direction === "desc" ? -(value ?? 0n) : (value ?? 0n);
  const { traceId, figures } = trace;
  return { isUnknown: value === undefined, value: signed, traceId, callCount: figures.calls };
}

export function compareRanks(one: Rank, other: Rank): number {
  if (one.isUnknown !== other.isUnknown) return Number(one.isUnknown) - Number(other.isUnknown);
  if (one.value !== other.value) return one.value < other.value ? -1 : 1;
  return Buffer.compare(Buffer.from(one.traceId), Buffer.from(other.traceId));
}

/** SQL over the columns of `recordsByTrace`: the rank as a tuple that sorts ascending. `costUnit`: 10^-18 USD per unit. */
export function rankTuple(order: TraceValue, direction: Direction, costUnit: number): Sql {
  const { isUnknown, value } = valueColumns(order, costUnit);
  const signed = sql`toInt128(${value}) * ${trusted(direction === "desc" ? "-1" : "1")}`;
  return sql`(toUInt8(${isUnknown}), if(${isUnknown}, toInt128(0), ${signed}), trace_id)`;
}

/** Place in a list: the end of its window, which a request may leave open, and its last trace. */
export interface PagePlace {
  /** Microseconds since the epoch. */
  readonly endUs: number;
  readonly last: Rank;
}

const place = z.tuple([z.int(), z.boolean(), z.string().regex(/^-?\d{1,38}$/), z.string()]);

/** Prints a page token. `selection`: `selectionHash` of the request. */
export function pageToken({ endUs, last }: PagePlace, selection: string): string {
  return printToken([endUs, last.isUnknown, String(last.value), last.traceId], selection);
}

/** Parses a page token. Errors: validation if it is invalid, or of another request. */
export function readPageToken(token: string, selection: string): PagePlace {
  const [endUs, isUnknown, value, traceId] = parseToken(token, { place, selection });
  return { endUs, last: { isUnknown, value: BigInt(value), traceId } };
}
