import type { Engine } from "../store/engine.ts";
import { isNotCurrent } from "../store/storage-error.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { Selection, SelectedTrace } from "../rollup/selection.ts";
import { hoursOfWindow } from "../rollup/plan.ts";
import { countTraces } from "../rollup/read/count-traces.ts";
import type { Cell } from "./cell.ts";
import { cellsOf } from "./cells-of-sums.ts";
import { areSame, findSettled, type Settled } from "./find-settled.ts";
import { oneOf } from "./hour.ts";
import { lookAtWindow } from "./look.ts";
import { planSumming } from "./plan-summing.ts";
import type { OwnUsageAsked } from "./question.ts";
import { placesOutside } from "./spanning.ts";
import { sumEntries } from "./sum-entries.ts";

/** What calls of a window used themselves. No trace is in both, or in neither. */
export interface OwnUsage {
  readonly cells: Iterable<Cell>;
  /** Traces whose calls must be folded. */
  readonly liveTraces: readonly SelectedTrace[];
}

const MAX_ATTEMPTS = 3;

/**
 * What the ledger has of a window, and the traces that it does not have: all of them, if writers change it faster than it can be
 * compared.
 *
 * The fingerprints are read first, then the live traces are counted, and last it is compared that the same is settled still: a
 * trace that had come to lie under other hours by the time it was counted was noted under all of them before, so that no
 * settlement which has it matches any more.
 */
export async function readOwnUsage(
  engine: Engine,
  asked: OwnUsageAsked,
  signal: AbortSignal,
): Promise<OwnUsage> {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await attemptToRead(engine, asked, signal);
      if (found === "unsettled") break;
      if (found !== "changed") return found;
    }
  } catch (error) {
    // a replica that may lack something can still be asked live
    if (!isNotCurrent(error)) throw error;
  }
  return {
    cells: [],
    liveTraces: await countTraces(engine, asked.selection, asked.selection.whereTraces, signal),
  };
}

async function attemptToRead(
  engine: Engine,
  asked: OwnUsageAsked,
  signal: AbortSignal,
): Promise<OwnUsage | "changed" | "unsettled"> {
  const { selection, window } = asked;
  const look = await lookAtWindow(engine, selection.project, hoursOfWindow(window), signal);
  const settled = findSettled(look);
  const summing = settled.heads.length === 0 ? undefined : planSumming(asked, settled.heads);
  if (summing === undefined) return "unsettled";
  const live = placesOfLive(selection, settled);
  const [traces, ...sums] = await Promise.all([
    live === undefined ? [] : countTraces(engine, selection, live, signal),
    ...summing.map((one) => sumEntries(engine, one, signal)),
  ]);
  if (!sums.every((one) => one !== undefined)) return "changed";
  if (live !== undefined) {
    const spanning = await look.readSpanningAgain();
    if (!areSame(findSettled({ ...look, spanning }), settled)) return "changed";
  }
  return {
    cells: cellsOf(sums, asked),
    liveTraces: traces,
  };
}

/** A condition: all calls of the traces that are not settled. Undefined: all are. */
function placesOfLive(
  { project }: Selection,
  { liveHours, hoursOfLiveGroups, groups }: Settled,
): Sql | undefined {
  if (liveHours.length === 0 && hoursOfLiveGroups.length === 0) return undefined;
  const places = placesOutside(project, oneOf([...liveHours, ...hoursOfLiveGroups]), groups);
  return sql`(${oneOf(liveHours)} OR (hour, trace_id) IN ${places})`;
}
