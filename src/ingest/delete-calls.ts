import { deleteEvent } from "../calls/events/call-event.ts";
import type { CallWriter } from "../calls/write/call-writer.ts";
import { readDeletionMark } from "../calls/storage-key/deletion-mark.ts";
import type { EpochMicros } from "../shared/instant.ts";
import { type StorageKey, type StorageKeyLookup, keyText } from "../calls/storage-key/key-lookup.ts";
import { chunksOf } from "../shared/chunks-of.ts";
import { countingEvent, reportersOf } from "../calls/reports/find-reports.ts";
import { namesIn, worseThan } from "../calls/events/report-names.ts";
import type { Engine } from "../store/engine.ts";
import { inTraces } from "../query/trace-hours.ts";
import { IS_VISIBLE } from "../query/fields/columns.ts";
import { param, sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";

export interface DeleteDeps {
  readonly engine: Engine;
  readonly lookup: StorageKeyLookup;
  readonly writer: CallWriter;
}

interface TreeRow {
  readonly hour: number;
  readonly trace_id: string;
  readonly id: string;
  readonly parent_id: string;
}

interface StoredRow extends TreeRow {
  readonly reports: string;
  readonly is_live: boolean;
}

const TRACES_PER_QUERY = 500;

/** Deletes calls and their descendants; returns the number deleted. A call that arrives later under such an id is deleted, too. */
export async function deleteCalls(
  deps: DeleteDeps,
  project: Project,
  request: { ids: readonly string[]; deletedAt: EpochMicros },
): Promise<number> {
  const ids = [...new Set(request.ids)];
  const readAt = await readDeletionMark(deps.engine, project);
  const keyOf = await deps.lookup.find(
    ids.map((id) => ({ project, id })),
    { fresh: true },
  );
  const indexed = ids.flatMap((id) => {
    const key = keyOf.get(keyText({ project, id }));
    return key === undefined ? [] : [{ id, ...key }];
  });
  const unknown = ids.filter((id) => !keyOf.has(keyText({ project, id })));
  await deps.writer.write(
    project,
    unknown.map((id) => deleteEvent(id, undefined, request.deletedAt)),
  );

  let count = 0;
  const deletedIds = new Set(ids);
  for (const traceIds of chunksOf([...new Set(indexed.map(({ traceId }) => traceId))], TRACES_PER_QUERY)) {
    const stored = await deps.engine.rows<StoredRow>(
      sql`SELECT hour, trace_id, id, ifNull(parent_id, '') AS parent_id, CAST(${IS_VISIBLE}, 'Bool') AS is_live,
            ifNull(reports, '') AS reports FROM calls FINAL
          PREWHERE project_id = ${param("String", project)} AND ${inTraces(project, traceIds)}`,
      { name: "calls_tree", limits: "heavy" },
    );
    const deleted = withDescendants(
      stored.filter((call) => call.is_live),
      deletedIds,
    );
    const keys = [
      ...deleted.map((call) => ({ id: call.id, traceId: call.trace_id, hour: call.hour })),
      ...notStoredYet(indexed, { traceIds, stored }),
    ];
    await deps.writer.write(
      project,
      keys.map(({ id, traceId, hour }) => deleteEvent(id, { traceId, hour }, request.deletedAt)),
      readAt,
    );
    await countAgain(
      deps,
      project,
      deleted.flatMap(({ reports }) => namesIn(reports)),
      readAt,
    );
    count += deleted.length;
  }
  return count;
}

/** Stores the worse reports of deleted ones again: the writer finds out if they count now. */
async function countAgain(
  { engine, writer }: DeleteDeps,
  project: Project,
  names: readonly string[],
  readAt: string,
): Promise<void> {
  const worse = [...new Set(names.flatMap(worseThan))];
  if (worse.length === 0) return;
  for await (const found of reportersOf(engine, project, worse, "elsewhere"))
    await writer.write(project, found.map(countingEvent), readAt);
}

interface IndexedCall extends StorageKey {
  readonly id: string;
}

/** Selects calls whose storage keys are indexed, but whose rows are not stored yet: keys are indexed first. */
function notStoredYet(
  indexed: readonly IndexedCall[],
  among: { readonly traceIds: readonly string[]; readonly stored: readonly TreeRow[] },
): readonly IndexedCall[] {
  const traceIds = new Set(among.traceIds);
  const stored = new Set(among.stored.map((call) => pairKey(call.trace_id, call.id)));
  return indexed.filter(({ traceId, id }) => traceIds.has(traceId) && !stored.has(pairKey(traceId, id)));
}

/** Selects calls and their descendants, within their traces; terminates on cycles. */
export function withDescendants<Row extends TreeRow>(
  calls: readonly Row[],
  chosen: ReadonlySet<string>,
): readonly Row[] {
  const children = new Map<string, Row[]>();
  for (const call of calls) {
    const parent = pairKey(call.trace_id, call.parent_id);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [call]);
    else siblings.push(call);
  }
  const found = new Map<string, Row>();
  const open = calls.filter((call) => chosen.has(call.id));
  for (let call = open.pop(); call !== undefined; call = open.pop()) {
    const own = pairKey(call.trace_id, call.id);
    if (found.has(own)) continue;
    found.set(own, call);
    for (const child of children.get(own) ?? []) open.push(child);
  }
  return [...found.values()];
}
