import { createHash, randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ENTRY_COLUMNS, type Entry } from "./entries.ts";
import type { FoldedHour } from "./fold-hour.ts";
import type { Project } from "../shared/project.ts";
import type { Hour } from "./hour.ts";
import { packQuarters } from "./packed-quarters.ts";
import { Quarters } from "./quarters.ts";
import { groupKey, type SpanningGroup } from "./spanning-groups.ts";

/** What the fold that writes rows is called. Rows of another one are not used: raise it when an entry means something else. */
export const VERSION = 2;

/**
 * An entry for each call and LLM; or these by quarters of an hour, both of the traces under one hour alone; or an entry for
 * each call and LLM of a group of spanning traces, and these by quarters.
 */
export const GRAINS = { calls: 0, quarters: 1, spanning: 2 } as const;
export type Grain = keyof typeof GRAINS;

/** A row of `usage_hours`. */
export type LedgerRow = Readonly<Record<string, unknown>>;

/** The rows of an hour, all of one settlement. Lets others have their turn after each piece. */
export async function rowsOf(hour: Hour, folded: FoldedHour): Promise<readonly LedgerRow[]> {
  const settlement = randomUUID();
  const { fingerprint, spanning, pieces } = folded;
  const ofHour = {
    project_id: hour.project,
    hour: hour.hour,
    version: VERSION,
    settlement,
    fingerprint,
    spanning,
  };
  const quarters = new Quarters();
  const rows: LedgerRow[] = [];
  for (const [piece, entries] of pieces.entries()) {
    quarters.add(entries);
    rows.push({ ...ofHour, piece, pieces: pieces.length, ...rowOf("calls", entries) });
    await nextTurn();
  }
  const added = quarters.entries();
  const times = together(pieces.filter(({ length }) => length > 0).map(timesOf));
  if (added !== undefined)
    rows.push({
      ...ofHour,
      piece: 0,
      pieces: 1,
      ...rowOf("quarters", []),
      entries: added.length,
      served: servedBy(added),
      ...times,
      quarters: packQuarters(added),
    });
  return rows;
}

/** The rows of a group, one for each of its hours, all of one settlement. `fingerprints`: of its hours, one after the other. */
export function rowsOfGroup(
  project: Project,
  { hours, digest }: SpanningGroup,
  folded: {
    readonly fingerprints: readonly string[];
    readonly entries: ReadonlyMap<number, readonly Entry[]>;
  },
): readonly LedgerRow[] {
  const settlement = randomUUID();
  const piece = pieceOf(groupKey(hours));
  return hours.map((hour, place) => ({
    project_id: project,
    hour,
    version: VERSION,
    settlement,
    fingerprint: folded.fingerprints[place],
    spanning: digest,
    hours,
    fingerprints: folded.fingerprints,
    piece,
    pieces: 1,
    ...rowOf("spanning", folded.entries.get(hour) ?? []),
    quarters: quartersOf(folded.entries.get(hour) ?? []),
  }));
}

/** '': they cannot be told by quarters. */
function quartersOf(entries: readonly Entry[]): string {
  const quarters = new Quarters();
  quarters.add(entries);
  const added = quarters.entries();
  return added === undefined ? "" : packQuarters(added);
}

/** Groups of one hour that share a number replace each other, and the one that is not there is folded live. */
function pieceOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32LE(0);
}

function rowOf(grain: Grain, entries: readonly Entry[]): LedgerRow {
  return {
    grain: GRAINS[grain],
    entries: entries.length,
    served: servedBy(entries),
    quarters: "",
    ...timesOf(entries),
    ...Object.fromEntries(ENTRY_COLUMNS.map((name) => [name, entries.map((entry) => entry[name])])),
  };
}

function servedBy(entries: readonly Entry[]): readonly string[] {
  const served = new Map<string, { readonly names: readonly string[]; hasDetails: boolean; input: number }>();
  for (const { usages, llm, provider, tier, detail, input_max: input } of entries) {
    if (usages === 0) continue;
    const key = `${llm.length} ${llm} ${provider.length} ${provider} ${tier}`;
    const known = served.get(key) ?? { names: [llm, provider, tier], hasDetails: false, input: 0 };
    served.set(key, known);
    known.hasDetails ||= detail !== "";
    known.input = Math.max(known.input, input);
  }
  return [...served.values()].map(({ names, hasDetails, input }) =>
    JSON.stringify([...names, Number(hasDetails), boundOf(input)]),
  );
}

/** The next power of two, so that most rows say the same. */
function boundOf(input: number): number {
  return input <= 1 ? 1 : 2 ** Math.ceil(Math.log2(input));
}

interface Times {
  readonly first_at: number;
  readonly last_at: number;
}

/** Of calls, not of quarters: their entries stand at their first calls. */
function timesOf(calls: readonly Entry[]): Times {
  let [first, last] = [calls[0]?.at ?? 0, calls[0]?.at ?? 0];
  for (const { at } of calls) {
    first = Math.min(first, at);
    last = Math.max(last, at);
  }
  return { first_at: first, last_at: last };
}

/** Of the pieces that have calls. */
function together(times: readonly Times[]): Times {
  if (times.length === 0) return { first_at: 0, last_at: 0 };
  return {
    first_at: Math.min(...times.map(({ first_at }) => first_at)),
    last_at: Math.max(...times.map(({ last_at }) => last_at)),
  };
}
