import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql } from "../../query/sql.ts";
import type { CallsPlan } from "../plan.ts";
import type { SelectedTrace } from "../selection.ts";
import { readExtents } from "./count-traces.ts";

export interface ChosenCalls {
  /** Traces of the chosen calls, with the calls' ids. */
  readonly traces: readonly SelectedTrace[];
  /** True if more calls match than the limit. */
  readonly truncated: boolean;
}

/** Chooses the oldest selected calls. */
export async function chooseCalls(
  engine: Engine,
  plan: CallsPlan,
  limit: number,
  signal: AbortSignal,
): Promise<ChosenCalls> {
  const keys = await oldestKeys(engine, plan, limit + 1, signal);
  const ids = Map.groupBy(keys.slice(0, limit), (key) => key.traceId);
  const extents = await readExtents(engine, plan.project, [...ids.keys()], signal);
  const traces = [...ids].flatMap(([traceId, calls]): SelectedTrace[] => {
    const extent = extents.get(traceId);
    if (extent === undefined) return [];
    return [{ traceId, ...extent, ids: new Set(calls.map((call) => call.id)) }];
  });
  return { traces, truncated: keys.length > limit };
}

interface CallKey {
  readonly traceId: string;
  readonly id: string;
}

async function oldestKeys(
  engine: Engine,
  { project, condition, whereSelected }: CallsPlan,
  limit: number,
  signal: AbortSignal,
): Promise<CallKey[]> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, id FROM calls FINAL PREWHERE ${ofProject(project)} AND ${whereSelected}
        WHERE ${IS_VISIBLE} AND ${condition} ORDER BY started_at, id LIMIT ${param("UInt32", limit)}`,
    "RowBinary",
    { name: "usage_select", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const keys: CallKey[] = [];
  while (!reader.done) keys.push({ traceId: reader.string(), id: reader.string() });
  return keys;
}
