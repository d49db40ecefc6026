import type { PriceBook } from "../prices/price-book.ts";
import type { HourRange } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { isNotCurrent } from "../store/storage-error.ts";
import type { Cell } from "./cell.ts";
import { cellsOf } from "./cells-of-sums.ts";
import { findSettled } from "./find-settled.ts";
import type { Head } from "./heads.ts";
import { lookAtHours } from "./look.ts";
import { planSumming } from "./plan-summing.ts";
import { sumEntries } from "./sum-entries.ts";

export interface SettledTracesAsked {
  readonly project: Project;
  /** Of keys: only traces that lie under these alone are there. */
  readonly hours: HourRange;
  /** Undefined: costs are not asked for. */
  readonly book: PriceBook | undefined;
}

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };
const MAX_ATTEMPTS = 3;

/**
 * What the ledger has of whole traces, by trace: of each all its calls, or nothing. What is not there must be folded. The first
 * field of a cell is the trace. None, if writers change the hours faster than they can be read.
 */
export async function readSettledTraces(
  engine: Engine,
  asked: SettledTracesAsked,
  signal: AbortSignal,
): Promise<Iterable<Cell>> {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const cells = await attemptToRead(engine, asked, signal);
      if (cells !== undefined) return cells;
    }
  } catch (error) {
    // a replica that may lack something can still be asked live
    if (!isNotCurrent(error)) throw error;
  }
  return [];
}

/** Undefined: an hour was settled again meanwhile. */
async function attemptToRead(
  engine: Engine,
  { project, hours, book }: SettledTracesAsked,
  signal: AbortSignal,
): Promise<Iterable<Cell> | undefined> {
  const { heads } = findSettled(await lookAtHours(engine, project, hours, signal));
  const whole = heads.filter(({ first, last }: Head) => first >= hours.from && last <= hours.to);
  const asked = {
    selection: { project },
    window: ANY_TIME,
    buckets: { startsUs: [] },
    question: { fields: ["trace_id"], condition: undefined, latencies: "none" },
    book,
  } as const;
  const summing = planSumming(asked, whole);
  if (summing === undefined) return [];
  const sums = await Promise.all(summing.map((one) => sumEntries(engine, one, signal)));
  const found = sums.filter((one) => one !== undefined);
  return found.length === sums.length ? cellsOf(found, asked) : undefined;
}
