import type { Engine } from "../../store/engine.ts";
import { BEHIND } from "../../store/cluster/replicas/replica.ts";
import { StorageError } from "../../store/storage-error.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { hoursOfWindow } from "../../rollup/plan.ts";
import type { SelectedTrace } from "../../rollup/selection.ts";
import type { StatsPlan } from "../plan.ts";
import { findSettled } from "./find-settled.ts";
import type { LookMemory } from "./look-memory.ts";
import { grainsFor, readLedger, type LedgerCells } from "./read-ledger.ts";

export interface LedgerAsked {
  readonly plan: StatsPlan;
  /** Undefined: costs are not asked for. It is read meanwhile. */
  readonly book: Promise<PriceBook | undefined>;
  readonly memory: LookMemory;
  readonly signal: AbortSignal;
}

export interface FoundLedger {
  readonly cells: LedgerCells;
  /** Those that the ledger does not have. */
  readonly traces: readonly SelectedTrace[];
}

/** What the ledger has of a window, as it is there. Undefined: nothing. Errors: `StorageError`. */
export async function askLedger(
  engine: Engine,
  { plan, book, memory, signal }: LedgerAsked,
): Promise<FoundLedger | undefined> {
  const { ledger, selection, buckets } = plan;
  if (ledger === undefined || buckets.startsUs.length === 0) return undefined;
  const found = await findSettled(engine, {
    selection,
    started: hoursOfWindow(plan.window),
    grains: grainsFor(ledger),
    memory,
    read: async (settled) => readLedger(engine, { plan, ledger, book: await book, settled, signal }),
    signal,
  }).catch(unlessBehind);
  if (found === undefined) return undefined;
  return { cells: found.cells, traces: found.traces.map((trace) => ({ ...trace, ids: undefined })) };
}

/** A replica that may lack something can still be asked live. */
function unlessBehind(error: unknown): undefined {
  if (!(error instanceof StorageError) || error.engineCode !== BEHIND) throw error;
}
