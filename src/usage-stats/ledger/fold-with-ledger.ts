import type { Engine } from "../../clickhouse/engine.ts";
import { BEHIND } from "../../clickhouse/replicas/replica.ts";
import { StorageError } from "../../clickhouse/storage-error.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { SelectedTrace } from "../../rollup/selection.ts";
import type { StatsPlan } from "../plan.ts";
import { foldTraces, foldWindow, type WindowLimits, type WindowToFold } from "../read-window.ts";
import type { WindowFold } from "../window-fold.ts";
import { findSettled } from "./find-settled.ts";
import { grainsFor, readLedger, type LedgerCells } from "./read-ledger.ts";

interface StatsToFold extends WindowToFold {
  readonly plan: StatsPlan;
  readonly fold: WindowFold;
  readonly book: PriceBook | undefined;
}

interface FoundLedger {
  readonly cells: LedgerCells;
  /** Those that the ledger does not have. */
  readonly traces: readonly SelectedTrace[];
}

/** Adds up all calls of a window: what the ledger has of it as it is there, the others live. Errors: as `foldWindow`. */
export async function foldWithLedger(
  engine: Engine,
  window: StatsToFold,
  limits: WindowLimits,
): Promise<void> {
  if (window.plan.buckets.startsMs.length === 0) return;
  const found = await askLedger(engine, window, limits.signal).catch(unlessBehind);
  if (found === undefined) return foldWindow(engine, window, limits);
  window.fold.addLedger(found.cells);
  await foldTraces(engine, window, found.traces, limits);
}

async function askLedger(
  engine: Engine,
  { plan, book }: StatsToFold,
  signal: AbortSignal,
): Promise<FoundLedger | undefined> {
  const { ledger, selection } = plan;
  if (ledger === undefined) return undefined;
  const found = await findSettled(engine, {
    selection,
    grains: grainsFor(ledger),
    read: (settled) => readLedger(engine, { plan, ledger, book, settled, signal }),
    signal,
  });
  if (found === undefined) return undefined;
  return { cells: found.cells, traces: found.traces.map((trace) => ({ ...trace, ids: undefined })) };
}

/** A replica that may lack something can still be asked live. */
function unlessBehind(error: unknown): undefined {
  if (!(error instanceof StorageError) || error.engineCode !== BEHIND) throw error;
}
