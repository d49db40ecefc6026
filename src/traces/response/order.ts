import { assertNever } from "../../shared/assert-never.ts";
import type { Sums } from "../../stats/sums/sums.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "../../stats/plan/members.ts";
import type { FoundTrace } from "../read/find-traces.ts";
import type { TotalName, TraceOrder } from "../schema.ts";

/** Sort value of a trace: a number in two parts, the second less than a unit of the first; null if unknown. */
export type Rank = readonly [whole: number, rest: number] | null;

const TOKENS = COUNT_MEMBERS.indexOf("total_tokens");
const COST = COST_MEMBERS.indexOf("total_cost");

/** Sort keys that need totals. */
export const SUMMED: ReadonlySet<TraceOrder | TotalName> = new Set(["total_cost", "total_tokens"]);

/** Returns the sort value. `sums` is required for the keys in `SUMMED`. */
export function rankOf(
  name: TraceOrder | TotalName,
  trace: FoundTrace,
  { sums, row }: { readonly sums: Sums | undefined; readonly row: number },
): Rank {
  switch (name) {
    case "started_at":
      return [trace.startedAtUs, 0];
    case "latency_ms":
      return trace.latencyMs === undefined ? null : [trace.latencyMs, 0];
    case "calls":
      return [trace.callCount, 0];
    case "errors":
    case "unfinished":
      return [trace[name], 0];
    case "total_tokens":
      return sums === undefined ? null : [sums.countOf(row, TOKENS), 0];
    case "total_cost": {
      const cost = sums?.costOf(row, COST);
      return cost == null ? null : [cost.dollars, cost.picodollars];
    }
    default:
      return assertNever(name);
  }
}

/** Converts a sort value to a number. */
export function numberOf(name: TraceOrder | TotalName, rank: Rank): number | null {
  if (rank === null) return null;
  return name === "total_cost" ? rank[0] + rank[1] / 1e12 : rank[0];
}

export interface Ranked {
  readonly rank: Rank;
  readonly traceId: string;
}

/** Sorts traces, equal ones by id, unknown values last. */
export function compareRanked(direction: "asc" | "desc"): (one: Ranked, other: Ranked) => number {
  const sign = direction === "asc" ? 1 : -1;
  return (one, other) => {
    const ids = one.traceId < other.traceId ? -1 : Number(one.traceId > other.traceId);
    if (one.rank === null || other.rank === null)
      return Number(one.rank === null) - Number(other.rank === null) || sign * ids;
    return sign * (one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1] || ids);
  };
}
