import { ask, type Asking } from "../api/ask.ts";
import type { UsageStats, UsageStatsQuery } from "../api/routes.ts";

/** How many calls a trace has, and how many of them failed. */
export interface TraceSize {
  readonly calls: number;
  readonly errors: number;
}

const DAY_MS = 86_400_000;
const CENTURY_SECONDS = 3_155_760_000;

/** By trace id: of whole traces, whenever their calls began. */
export async function loadSizes(
  project_id: string,
  trace_ids: readonly string[],
  asking: Asking,
): Promise<ReadonlyMap<string, TraceSize>> {
  if (trace_ids.length === 0) return new Map();
  const body = {
    project_id,
    start: new Date(0).toISOString(),
    end: new Date(Date.now() + DAY_MS).toISOString(),
    granularity: CENTURY_SECONDS,
    filter: { trace_ids: [...trace_ids] },
    group_by: ["trace_id"],
    order_by: "calls",
    limit: trace_ids.length,
  } satisfies UsageStatsQuery;
  const { body: stats } = await ask<UsageStats>({ path: "/usage/stats", body }, asking);
  return new Map(stats.groups.map(({ key, total }) => [String(key["trace_id"]), total]));
}
