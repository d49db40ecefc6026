import type { Engine } from "../store/engine.ts";
import type { Project } from "../shared/project.ts";
import { rowText } from "./list-response.ts";
import { printListOfRefs, type ListedRow } from "./list.ts";

const MIN_ROW_LIMIT = 10_000;
/** More than scorers store for a call. */
const ROWS_PER_REF = 20;

/** Reads feedback by reference, as JSON, oldest first; `undefined` above the row or byte limit. Errors: `StorageError`. */
export async function feedbackOfRefs(
  engine: Engine,
  project: Project,
  { refs, signal }: { readonly refs: readonly string[]; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  const maxRows = Math.max(MIN_ROW_LIMIT, ROWS_PER_REF * refs.length);
  const statement = printListOfRefs(project, refs, maxRows + 1);
  const rows = await engine.rows<ListedRow>(statement, { name: "feedback_of_refs", signal });
  if (rows.length > maxRows || rows.some((row) => row.has_room === 0)) return undefined;
  const texts = new Map<string, string[]>();
  for (const row of rows) {
    const ref = row.weave_ref ?? "";
    const known = texts.get(ref);
    if (known === undefined) texts.set(ref, [rowText(row)]);
    else known.push(rowText(row));
  }
  return texts;
}
