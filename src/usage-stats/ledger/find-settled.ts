import type { Engine } from "../../clickhouse/engine.ts";
import { NO_SPANNING, readFingerprints, readSpanning } from "../../ledger/hour.ts";
import { readSettled, type SettledHour } from "../../ledger/settled-hours.ts";
import { inTraces } from "../../query/index.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import type { Selection } from "../../rollup/selection.ts";
import { countPerTrace, type CountedTrace } from "../../rollup/store.ts";

/** A window: what settled hours come to, and the traces that must be folded. No call is in both, or in neither. */
export interface FoundHours<Cells> {
  readonly cells: Cells;
  readonly traces: readonly CountedTrace[];
}

interface Question<Cells> {
  readonly selection: Selection;
  /** Reads settled hours. Undefined: they do not tell. */
  readonly read: (settled: readonly SettledHour[]) => Promise<Cells | undefined>;
  readonly signal: AbortSignal;
}

const MAX_ROUNDS = 3;

/**
 * Finds out what the ledger has of a window. Undefined: nothing, or writers change it faster than it can be compared.
 *
 * Every call under an hour that had rows when the fingerprints were read is either in the hour's settlement, or its trace
 * is counted: the traces of the hours that are not settled, and those that `spanning_traces` has under any of them. The
 * digests are compared last. A trace that had calls under two hours when it was counted was noted under both before, so
 * that a settlement which has it as a trace of one hour does not match any more.
 */
export async function findSettled<Cells>(
  engine: Engine,
  { selection, read, signal }: Question<Cells>,
): Promise<FoundHours<Cells> | undefined> {
  const { project, reach } = selection;
  if (reach.window === undefined) return undefined;
  const [known, current, spanning] = await Promise.all([
    readSettled(engine, project, reach.window, { name: "ledger_find", signal }),
    readFingerprints(engine, project, reach.window, { name: "ledger_fingerprints", signal }),
    readSpanning(engine, project, reach.window, { name: "ledger_spanning", signal }),
  ]);
  const hours = [...current.keys()];
  const unchanged = known.filter(({ hour, fingerprint }) => current.get(hour) === fingerprint);
  let settled = withSpanning(unchanged, spanning);
  for (let round = 0; round < MAX_ROUNDS && settled.length > 0; round++) {
    const isSettled = new Set(settled.map(({ hour }) => hour));
    const live = hours.filter((hour) => !isSettled.has(hour));
    const [cells, traces] = await Promise.all([
      read(settled),
      countPerTrace(engine, selection, signal, within(selection, { live, hours })),
    ]);
    if (cells === undefined) return undefined;
    const last = await readSpanning(engine, project, oneOf([...isSettled]), {
      name: "ledger_compare",
      signal,
    });
    const still = withSpanning(settled, last);
    if (still.length === settled.length) return { cells, traces };
    settled = still;
  }
  return undefined;
}

function withSpanning(
  settled: readonly SettledHour[],
  digests: ReadonlyMap<number, string>,
): readonly SettledHour[] {
  return settled.filter(({ hour, spanning }) => (digests.get(hour) ?? NO_SPANNING) === spanning);
}

/** All calls of the hours to fold, and of the traces that lie under one of all hours and others. */
function within(
  { project }: Selection,
  { live, hours }: Readonly<Record<"live" | "hours", readonly number[]>>,
): Sql {
  const spanning = sql`(SELECT trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND ${oneOf(hours)})`;
  return sql`(${oneOf(live)} OR ${inTraces(project, spanning)})`;
}

function oneOf(hours: readonly number[]): Sql {
  return sql`hour IN ${param("Array(Int64)", hours)}`;
}
