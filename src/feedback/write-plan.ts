import { keyText, type FeedbackChange, type FeedbackColumns, type FeedbackKey } from "./feedback-row.ts";

/** A stored row of an id. */
export interface StoredRow extends FeedbackKey {
  readonly createdAtUs: number;
  readonly version: number;
  readonly deleted: boolean;
}

/** A row to insert. Without columns it marks a deletion. */
export interface NewRow extends FeedbackKey {
  readonly createdAtUs: number;
  readonly version: number;
  readonly columns: FeedbackColumns | undefined;
}

export interface WritePlan {
  readonly rows: readonly NewRow[];
  /** Time of each change's feedback in µs, in the order of the changes. */
  readonly createdAtUs: readonly number[];
}

/** Plans the rows of a batch of changes, given the stored rows of their ids. The last change of an id wins. */
export function planWrite(
  changes: readonly FeedbackChange[],
  stored: readonly StoredRow[],
  version: number,
): WritePlan {
  const storedByKey = Map.groupBy(stored, keyText);
  const states = new Map<string, State>();
  const createdAtUs: number[] = [];
  for (const change of changes) {
    const key = keyText(change);
    const before = states.get(key) ?? initialState(storedByKey.get(key) ?? []);
    const { kind, us } = change.time;
    const timeUs = kind === "set" ? us : (before.liveUs ?? us);
    states.set(key, { ...before, change, liveUs: change.columns === undefined ? undefined : timeUs });
    createdAtUs.push(timeUs);
  }
  return { rows: [...states.values()].flatMap((state) => rowsOf(state, version)), createdAtUs };
}

/** State of an id while its changes are applied. */
interface State {
  readonly stored: readonly StoredRow[];
  readonly liveUs: number | undefined;
  readonly change?: FeedbackChange;
}

function initialState(stored: readonly StoredRow[]): State {
  return { stored, liveUs: stored.filter((row) => !row.deleted).toSorted(byPrecedence)[0]?.createdAtUs };
}

function rowsOf({ stored, liveUs, change }: State, version: number): NewRow[] {
  const { project, id, columns } = change!;
  const key = { project, id, version: Math.max(version, ...stored.map((row) => row.version + 1)) };
  const moved = stored.filter((row) => !row.deleted && row.createdAtUs !== liveUs);
  return [
    ...moved.map((row) => ({ ...key, createdAtUs: row.createdAtUs, columns: undefined })),
    ...(liveUs === undefined ? [] : [{ ...key, createdAtUs: liveUs, columns }]),
  ];
}

/**
 * Plans the deletion of all but one row of each id; every replica keeps the same one. Two replicas that store a new id
 * at the same moment write two rows, with two times.
 */
export function planRepair(stored: readonly StoredRow[]): readonly NewRow[] {
  const live = stored.filter((row) => !row.deleted);
  return [...Map.groupBy(live, keyText).values()].flatMap((rows) => {
    const [kept, ...others] = rows.toSorted(byPrecedence);
    return others
      .filter((row) => row.createdAtUs !== kept?.createdAtUs)
      .map(({ deleted: _live, version, ...key }) => ({ ...key, version: version + 1, columns: undefined }));
  });
}

function byPrecedence(a: StoredRow, b: StoredRow): number {
  return b.version - a.version || a.createdAtUs - b.createdAtUs;
}
