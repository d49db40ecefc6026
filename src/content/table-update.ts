import type { Issue } from "../shared/errors.ts";

/** A change to a list of rows. Changes apply in order. */
export type RowChange =
  | { readonly kind: "append"; readonly row: string }
  | { readonly kind: "insert"; readonly index: number; readonly row: string }
  | { readonly kind: "pop"; readonly index: number };

export interface UpdatedRows {
  readonly rows: readonly string[];
  /** The row that each change added or removed. */
  readonly updated: readonly string[];
}

/** Applies all changes; returns the issue of an invalid one. Cost: O(rows) per insert and pop. */
export function applyChanges(before: readonly string[], changes: readonly RowChange[]): UpdatedRows | Issue {
  const rows = [...before];
  const updated: string[] = [];
  for (const [at, change] of changes.entries()) {
    if (change.kind === "append") rows.push(change.row);
    else if (change.index > rows.length - (change.kind === "pop" ? 1 : 0)) return outOfRange(at, change.kind);
    else if (change.kind === "insert") rows.splice(change.index, 0, change.row);
    updated.push(change.kind === "pop" ? rows.splice(change.index, 1)[0]! : change.row);
  }
  return { rows, updated };
}

function outOfRange(at: number, kind: "insert" | "pop"): Issue {
  const loc = ["body", "updates", at, kind, "index"];
  return { loc, msg: "The index is beyond the end of the table at this update", type: "less_than_equal" };
}
