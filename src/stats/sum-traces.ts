import { inTurns } from "../fairness/turns.ts";
import { inTraces } from "../query/trace-hours.ts";
import { sql } from "../query/sql.ts";
import { eachItem } from "../shared/steps.ts";
import { planTraces } from "../traces/plan/plan-traces.ts";
import { readValues, rootValues } from "../traces/read/root-values.ts";
import type { ReadDeps } from "../traces/read/fold-traces.ts";
import { foldIn, selectTraces, type FoldedTrace, type FoldedTraces } from "../traces/read/select-traces.ts";
import type { UsedSum } from "../usage-rollup/priced-sums.ts";
import { recordCount } from "../usage-rollup/manifests.ts";
import { readUsageOfTraces } from "../usage-rollup/read-price-table.ts";
import { recordsByTrace } from "../usage-rollup/records-by-trace.ts";
import { UNPRICED_SLOT, type Sums } from "../usage-rollup/sums.ts";
import { groupsStatement, readGroups, type GroupRecords, type RecordGroup } from "./group-records.ts";
import type { StatsDeps, StatsRequested } from "./sum-calls.ts";
import { readRatedCalls } from "./read-rated.ts";
import { StatsFold } from "./sums/stats-fold.ts";

/**
 * Sums the traces that `/traces/query` lists, by the group and bucket of their roots. Errors: validation; `StorageError`;
 * too_many_calls.
 */
export async function sumTraces(
  { engine, maxCalls, maxAggregates, bookFor, providerOf }: StatsDeps,
  requested: StatsRequested,
): Promise<StatsFold> {
  const { project, request, plan, nowMs, signal } = requested;
  const traces = planTraces(project, request, nowMs);
  const book = await bookFor(project);
  const deps = { engine, book, providerOf, maxCalls, maxTraces: maxAggregates, signal };
  const rated = await readRatedCalls(engine, requested, Math.min(maxCalls, maxAggregates));
  const { ofRecords, ofCalls } = await selectTraces(deps, traces, (records) =>
    readRecords(deps, { records, place: traces.place, plan }),
  );
  const readKeys = async ({ traces: some }: FoldedTraces): Promise<KeyOf> => {
    const { callKey } = plan.dimensions;
    const ids = some.map(({ traceId }) => traceId);
    if (callKey === undefined || ids.length === 0) return () => "";
    const keys = await readValues(engine, rootValues(project, inTraces(project, ids), callKey), signal);
    return ({ traceId }) => keys.get(traceId)?.[0] ?? "";
  };
  const keyOf = await readKeys(ofCalls);
  const fold = new StatsFold(plan, ofCalls.sums.unpriced, maxAggregates);
  await inTurns(eachItem(ofRecords?.rows ?? [], (row) => addRecords(fold, row)));
  for (const usage of ofRecords?.unpriced ?? []) fold.unpriced.addSum(usage);
  const addTrace = (trace: FoldedTrace): void => addFolded(fold, trace, ofCalls.sums.sums, keyOf(trace));
  await inTurns(eachItem(ofCalls.traces, addTrace));
  if (rated.length === 0) return fold;
  const passed = new Map(rated.map((one) => [one.traceId, one.passed]));
  const ofRated = await foldIn(deps, traces, inTraces(project, [...passed.keys()]));
  const keyOfRated = await readKeys(ofRated);
  const addRated = (trace: FoldedTrace): void => {
    const into = aggregateOf(fold, keyOfRated(trace), trace.startedUs);
    fold.sums.addRated(into, passed.get(trace.traceId) === true);
    fold.sums.addRatedCost(into, trace.figures.cost);
  };
  await inTurns(eachItem(ofRated.traces, addRated));
  return fold;
}

/** Returns the values of the root of a trace, as `Dimensions.callKey` prints them. */
type KeyOf = (trace: FoldedTrace) => string;

function addRecords(fold: StatsFold, row: RecordGroup): void {
  const into = aggregateOf(fold, row.key, row.bucketUs);
  fold.sums.addSummed(into, row);
  fold.addLatencies(into, row.latency, row.latencies);
}

function addFolded(
  fold: StatsFold,
  { startedUs, latencyMs, hasFailed, figures, row }: FoldedTrace,
  sums: Sums,
  key: string,
): void {
  const into = aggregateOf(fold, key, startedUs);
  fold.sums.addFrom(sums, row, into);
  fold.sums.addTrace(into, { hasFailed, hasFailures: figures.failed > 0 });
  if (latencyMs !== undefined) fold.addLatency(into, latencyMs);
}

/** `key`: values of the root, as `Dimensions.callKey` prints them. */
function aggregateOf(fold: StatsFold, key: string, us: number): number {
  return fold.aggregateAt(fold.groups.numberOf(key, { llm: null, provider: null }), fold.bucketAt(us));
}

interface RecordGroups {
  readonly rows: readonly RecordGroup[];
  readonly unpriced: Iterable<UsedSum>;
}

/** Reads the sums of the records. `changed`: an hour was materialized meanwhile. */
async function readRecords(
  { engine, book, signal }: ReadDeps,
  from: GroupRecords,
): Promise<RecordGroups | "changed"> {
  const { records, plan } = from;
  const bytes = await engine.bytes(groupsStatement(from), "RowBinary", {
    name: "traces_groups",
    limits: "heavy",
    signal,
  });
  const all: RecordGroup[] = [];
  await inTurns(eachItem(readGroups(bytes, records.prices.costUnit), (row) => void all.push(row)));
  const found = all.reduce((sum, row) => sum + row.records, 0);
  if (found !== recordCount(records.manifests)) return "changed";
  const rows = all.filter(({ isSelected }) => isSelected);
  if (!plan.withCosts || !rows.some(({ counts }) => counts[UNPRICED_SLOT]! > 0))
    return { rows, unpriced: [] };
  const traces = sql`(SELECT trace_id FROM (${recordsByTrace(records)}) WHERE is_selected)`;
  const used = await readUsageOfTraces(engine, { ...records, book }, traces, signal);
  if (used === "changed" || used === "unable") return "changed";
  return { rows, unpriced: [...used].flatMap((aggregate) => aggregate.used ?? []) };
}
