import type { Engine } from "../store/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { foldHour, type FoldedHour } from "./fold-hour.ts";
import { readFingerprints, type Hour } from "./hour.ts";
import { rowsOf, type LedgerRow } from "./settled-rows.ts";

/** An hour, and how many rows of `calls` it has. */
export interface HourToSettle extends Hour {
  readonly rows: number;
}

export interface SettleDeps {
  readonly engine: Engine;
  /** Does some work while this process writes no part of a call and begins no deletion. */
  readonly between: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Ends the work; what is settled by then stays. */
  readonly signal: AbortSignal;
}

/** Larger hours are always folded live. */
const MAX_ROWS = 1_000_000;
/** Hours that are written together have no more entries, unless it is one. */
const ENTRIES_PER_WRITE = 200_000;

/**
 * Writes hours into the ledger, and returns those that it has not written: too large, or changed meanwhile. What is written is
 * right for its fingerprint whenever it arrives; it is compared again before it is written, so that nothing is
 * stored of what has been deleted in the meantime.
 */
export async function settleHours(
  deps: SettleDeps,
  hours: readonly HourToSettle[],
): Promise<readonly Hour[]> {
  const left: Hour[] = [];
  let batch: Settled[] = [];
  const write = async (): Promise<void> => {
    left.push(...(await writeUnchanged(deps, batch)));
    batch = [];
  };
  for (const hour of hours) {
    const folded = hour.rows > MAX_ROWS ? undefined : await foldHour(deps.engine, hour, deps.signal);
    if (folded === undefined) left.push(hour);
    else batch.push({ hour, folded });
    const entries = batch.flatMap((one) => one.folded.pieces.map((piece) => piece.length));
    if (entries.reduce((sum, count) => sum + count, 0) >= ENTRIES_PER_WRITE) await write();
  }
  await write();
  return left;
}

interface Settled {
  readonly hour: Hour;
  readonly folded: FoldedHour;
}

async function writeUnchanged(
  { engine, between }: SettleDeps,
  batch: readonly Settled[],
): Promise<readonly Hour[]> {
  if (batch.length === 0) return [];
  const rows = new Map<Settled, readonly LedgerRow[]>();
  for (const one of batch) rows.set(one, await rowsOf(one.hour, one.folded));
  return between(async () => {
    const changed = new Set<Settled>();
    for (const [project, ofProject] of Map.groupBy(batch, (one) => one.hour.project)) {
      const now = await fingerprintsOf(engine, project, ofProject);
      for (const one of ofProject) if (now.get(one.hour.hour) !== one.folded.fingerprint) changed.add(one);
    }
    const unchanged = batch.filter((one) => !changed.has(one));
    await engine.insert(
      "usage_hours",
      unchanged.flatMap((one) => rows.get(one)!),
      { name: "ledger_add" },
    );
    return [...changed].map((one) => one.hour);
  });
}

function fingerprintsOf(
  engine: Engine,
  project: Project,
  batch: readonly Settled[],
): Promise<ReadonlyMap<number, string>> {
  const hours = batch.map((one) => one.hour.hour);
  return readFingerprints(engine, project, sql`hour IN ${param("Array(Int64)", hours)}`, {
    name: "ledger_compare",
  });
}
