import { inTurns } from "../../fairness/turns.ts";
import { inTraces } from "../../query/index.ts";
import { sql } from "../../query/sql.ts";
import { eachItem } from "../../shared/steps.ts";
import type { SumTraces } from "../../stats/sum-traces.ts";
import type { AggregatedUsage } from "../../usage-rollup/aggregate.ts";
import { readUsageOfTraces } from "../../usage-rollup/read-price-table.ts";
import { recordsByTrace } from "../../usage-rollup/records-by-trace.ts";
import { planTraces } from "../plan/plan-traces.ts";
import { readValues, rootValues } from "../read/root-values.ts";
import { selectTraces, type ReadDeps } from "../read/select-traces.ts";
import { groupsStatement, readGroups, type GroupRecords, type RecordGroup } from "./group-records.ts";
import { UNPRICED_SLOT } from "../../stats/sums/sums.ts";
import { TraceGroups } from "./trace-groups.ts";

/** Sums the traces that `/traces/query` lists, by the group and bucket of their roots. */
export const sumTraces: SumTraces = async (deps, { project, request, groups }, settings) => {
  const plan = planTraces(project, request, settings);
  const reading = { ...deps, book: await deps.bookFor(project), maxTraces: deps.maxAggregates };
  const { ofRecords, folded } = await selectTraces(reading, plan, (records, selection) =>
    readRecords(reading, { records, selection, plan, groups }),
  );
  const { callKey } = groups.dimensions;
  const ids = folded.traces.map(({ traceId }) => traceId);
  const keys =
    callKey === undefined || ids.length === 0
      ? undefined
      : await readValues(deps.engine, rootValues(project, inTraces(project, ids), callKey), deps.signal);
  const fold = new TraceGroups(groups, folded.sums.unpriced, deps.maxAggregates);
  await inTurns(eachItem(ofRecords?.rows ?? [], (row) => fold.addRecords(row)));
  for (const usage of ofRecords?.unpriced ?? []) fold.unpriced.addAggregate(usage);
  await inTurns(
    eachItem(folded.traces, (trace) =>
      fold.addFolded(trace, folded.sums.sums, keys?.get(trace.traceId)?.[0] ?? ""),
    ),
  );
  return fold;
};

interface RecordGroups {
  readonly rows: readonly RecordGroup[];
  readonly unpriced: Iterable<AggregatedUsage>;
}

/** Reads the sums of the records. `changed`: an hour was materialized meanwhile. */
async function readRecords(
  { engine, book, signal }: ReadDeps,
  from: GroupRecords,
): Promise<RecordGroups | "changed"> {
  const { records, selection, groups } = from;
  const bytes = await engine.bytes(groupsStatement(from), "RowBinary", {
    name: "traces_groups",
    limits: "heavy",
    signal,
  });
  const all: RecordGroup[] = [];
  await inTurns(eachItem(readGroups(bytes, records.prices.costUnit), (row) => void all.push(row)));
  const found = all.reduce((sum, row) => sum + row.records, 0);
  if (found !== records.manifests.reduce((sum, manifest) => sum + manifest.records, 0)) return "changed";
  const rows = all.filter(({ isSelected }) => isSelected);
  if (!groups.withCosts || !rows.some(({ counts }) => counts[UNPRICED_SLOT]! > 0))
    return { rows, unpriced: [] };
  const traces = sql`(SELECT trace_id FROM (${recordsByTrace(records, selection)}) WHERE is_selected)`;
  const used = await readUsageOfTraces(engine, { ...records, book }, traces, signal);
  if (used === "changed" || used === "unable") return "changed";
  return { rows, unpriced: [...used].flatMap((aggregate) => aggregate.used ?? []) };
}
