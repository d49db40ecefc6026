import type { Engine } from "../../store/engine.ts";
import type { CallRow } from "../storage-key/index-call-keys.ts";
import {
  findPendingHeaders,
  findPendingEvents,
  resolvePending,
  type PendingEvent,
} from "./pending-events.ts";
import { keyText, type CallKey, type StorageKeyLookup } from "../storage-key/key-lookup.ts";
import { chunksOf } from "../../shared/chunks-of.ts";

interface PendingDeps {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
}

const KEYS_PER_ROUND = 1000;
/** More rounds than writers race in practice; the sweep writes the rest. */
const MAX_ROUNDS = 100;

/**
 * Writes the pending events of calls with a known trace, from the oldest one on. Another writer may do the same concurrently
 * and may have seen fewer events. So each writer reads again after it has written, and writes again from the first event that
 * it has not written. The newest event of a call is then always its last row, whoever wrote it.
 */
export async function writePending(deps: PendingDeps, keys: readonly CallKey[]): Promise<void> {
  for (const chunk of chunksOf(keys, KEYS_PER_ROUND)) await writeChunk(deps, chunk);
}

async function writeChunk({ engine, traces }: PendingDeps, keys: readonly CallKey[]): Promise<void> {
  const known = await traces.find(keys, { fresh: true });
  let open = keys.filter((key) => known.has(keyText(key)));
  const written = new Map<string, PendingEvent>();
  for (let round = 0; round < MAX_ROUNDS && open.length > 0; round++) {
    const from = await firstToWrite(engine, open, written);
    if (from.size === 0) break;
    const events = [...(await findPendingEvents(engine, from)).values()].flat();
    const rows = events.map((one): CallRow => {
      const { traceId, hour } = known.get(keyText(one))!;
      return { project_id: one.project, hour, trace_id: traceId, id: one.id, ...one.event.columns };
    });
    await engine.insert("calls", rows, { name: "calls_add_pending" });
    for (const one of events) written.set(eventText(one), one);
    open = [...from.values()].map(({ key }) => key);
  }
  await resolvePending(engine, [...written.values()]);
}

/** Finds each call's oldest event to write: pending, or newer than those already written. */
async function firstToWrite(
  engine: Engine,
  keys: readonly CallKey[],
  written: ReadonlyMap<string, PendingEvent>,
): Promise<ReadonlyMap<string, { key: CallKey; version: number }>> {
  const from = new Map<string, { key: CallKey; version: number }>();
  for (const [text, headers] of await findPendingHeaders(engine, keys)) {
    const oldest = headers.find((header) => written.has(eventText(header)));
    const first = headers.find(
      (header) =>
        !written.has(eventText(header)) &&
        (oldest === undefined ? !header.resolved : !header.resolved || header.version > oldest.version),
    );
    if (first !== undefined) from.set(text, { key: first, version: first.version });
  }
  return from;
}

function eventText(header: Omit<PendingEvent, "event">): string {
  return JSON.stringify([keyText(header), header.version, header.kind, header.columnsHash]);
}
