import type { Engine } from "../../store/engine.ts";
import { keyText, type CallKey, type CallRow, type StorageKeyLookup } from "../storage-key/key-lookup.ts";
import { mergeRows } from "./merge-rows.ts";
import { markApplied, readPending, type PendingEvent } from "./pending-events.ts";

interface InsertDeps {
  readonly engine: Engine;
  readonly lookup: StorageKeyLookup;
}

/**
 * Inserts rows of calls and, with them, the pending events of `waiting` calls that are known. Another writer may do the same
 * concurrently and may have read fewer events. So each reads again after it has written, until it has written all: the newest
 * event of a call is always in its last row, whoever wrote it.
 */
export async function insertCalls(
  { engine, lookup }: InsertDeps,
  rows: readonly CallRow[],
  waiting: readonly CallKey[],
): Promise<void> {
  const storageKeys = await lookup.find(waiting, { fresh: true });
  const keys = waiting.filter((key) => storageKeys.has(keyText(key)));
  const written = new Map<string, PendingEvent>();
  for (let own = rows; ; own = []) {
    const pending = await readPending(engine, keys);
    const unwritten = keys.flatMap((key) => fromFirstUnwritten(pending.get(keyText(key)) ?? [], written));
    if (own.length === 0 && unwritten.length === 0) break;
    const late = unwritten.map((event): CallRow => {
      const { traceId, hour } = storageKeys.get(keyText(event))!;
      return { project_id: event.project, hour, trace_id: traceId, id: event.id, ...event.columns };
    });
    await engine.insert("calls", mergeRows([...own, ...late]), { name: "calls_add" });
    for (const event of unwritten) written.set(nameOf(event), event);
  }
  await markApplied(
    engine,
    [...written.values()].filter(({ applied }) => !applied),
  );
}

/**
 * Returns the events of a call that must follow in its row: all from the first one that is not applied or that this writer has
 * written, if some of them are not written by it.
 */
function fromFirstUnwritten(
  events: readonly PendingEvent[],
  written: ReadonlyMap<string, PendingEvent>,
): readonly PendingEvent[] {
  const isOwn = (event: PendingEvent): boolean => written.has(nameOf(event));
  const first = events.findIndex((event) => !event.applied || isOwn(event));
  const following = first < 0 ? [] : events.slice(first);
  return following.every(isOwn) ? [] : following;
}

function nameOf({ storedAtUs, position }: PendingEvent): string {
  return `${storedAtUs} ${position}`;
}
