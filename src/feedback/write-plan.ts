import { keyText, type FeedbackChange, type FeedbackColumns, type FeedbackKey } from "./feedback-row.ts";

/** A row that the store has under an id. */
export interface StoredRow extends FeedbackKey {
  readonly createdAtMs: number;
  readonly version: number;
  readonly deleted: boolean;
}

/** A row to insert. Without columns it is a deleted one. */
export interface NewRow extends FeedbackKey {
  readonly createdAtMs: number;
  readonly version: number;
  readonly columns: FeedbackColumns | undefined;
}

export interface WritePlan {
  readonly rows: readonly NewRow[];
  /** The time each change's feedback has from now on, in the order of the changes. */
  readonly createdAtMs: readonly number[];
}

/** What a batch of changes writes, given what the store has under their ids. Of one id the last change holds. */
export function planWrite(
  changes: readonly FeedbackChange[],
  stored: readonly StoredRow[],
  version: number,
): WritePlan {
  const storedByKey = Map.groupBy(stored, keyText);
  const states = new Map<string, State>();
  const createdAtMs: number[] = [];
  for (const change of changes) {
    const key = keyText(change);
    const before = states.get(key) ?? initialState(storedByKey.get(key) ?? []);
    const { kind, ms } = change.time;
    const timeMs = kind === "set" ? ms : (before.liveMs ?? ms);
    states.set(key, { ...before, change, liveMs: change.columns === undefined ? undefined : timeMs });
    createdAtMs.push(timeMs);
  }
  return { rows: [...states.values()].flatMap((state) => rowsOf(state, version)), createdAtMs };
}

/** What one id comes to while its changes are read. */
interface State {
  readonly stored: readonly StoredRow[];
  readonly liveMs: number | undefined;
  readonly change?: FeedbackChange;
}

function initialState(stored: readonly StoredRow[]): State {
  return { stored, liveMs: stored.filter((row) => !row.deleted).toSorted(byPrecedence)[0]?.createdAtMs };
}

function rowsOf({ stored, liveMs, change }: State, version: number): NewRow[] {
  const { project, id, columns } = change!;
  const key = { project, id, version: Math.max(version, ...stored.map((row) => row.version + 1)) };
  const moved = stored.filter((row) => !row.deleted && row.createdAtMs !== liveMs);
  return [
    ...moved.map((row) => ({ ...key, createdAtMs: row.createdAtMs, columns: undefined })),
    ...(liveMs === undefined ? [] : [{ ...key, createdAtMs: liveMs, columns }]),
  ];
}

/**
 * Two replicas that store one new id at the same moment write it under two times. Deletes all rows of an id but one;
 * whoever sees them comes to the same one.
 */
export function planRepair(stored: readonly StoredRow[]): readonly NewRow[] {
  const live = stored.filter((row) => !row.deleted);
  return [...Map.groupBy(live, keyText).values()].flatMap((rows) => {
    const [kept, ...others] = rows.toSorted(byPrecedence);
    return others
      .filter((row) => row.createdAtMs !== kept?.createdAtMs)
      .map(({ deleted: _live, version, ...key }) => ({ ...key, version: version + 1, columns: undefined }));
  });
}

function byPrecedence(a: StoredRow, b: StoredRow): number {
  return b.version - a.version || a.createdAtMs - b.createdAtMs;
}
