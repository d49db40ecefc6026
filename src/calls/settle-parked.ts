import type { Engine } from "../clickhouse/engine.ts";
import { noteCalls, type CallRow } from "./note-calls.ts";
import { findMarks, findParts, unpark, type ParkedPart } from "./parked-parts.ts";
import { chunksOf, keyText, type CallKey, type TraceLookup } from "./trace-lookup.ts";

const KEYS_PER_ROUND = 1000;
/** More rounds than writers can meet by chance; what is left then is seen to by the sweep. */
const MAX_ROUNDS = 100;

/**
 * Writes what waits of some calls to those of them whose trace is known by now: from the oldest part that waits on,
 * in order. Another writer may do the same for the same call at the same time and have seen fewer parts; so whoever
 * has written looks again, and writes again from the first part on that it has not written. The last rows of a call
 * are then its newest part, whoever wrote them.
 */
export async function settleParked(
  engine: Engine,
  traces: TraceLookup,
  keys: readonly CallKey[],
): Promise<void> {
  for (const chunk of chunksOf(keys, KEYS_PER_ROUND)) await settleChunk(engine, traces, chunk);
}

async function settleChunk(engine: Engine, traces: TraceLookup, keys: readonly CallKey[]): Promise<void> {
  const known = await traces.find(keys, { fresh: true });
  let open = keys.filter((key) => known.has(keyText(key)));
  const written = new Map<string, ParkedPart>();
  for (let round = 0; round < MAX_ROUNDS && open.length > 0; round++) {
    const from = await firstToWrite(engine, open, written);
    if (from.size === 0) break;
    const parts = [...(await findParts(engine, from)).values()].flat();
    const rows = parts.map((one): CallRow => {
      const { traceId, hour } = known.get(keyText(one))!;
      return { project_id: one.project, hour, trace_id: traceId, id: one.id, ...one.part.columns };
    });
    await noteCalls(engine, rows);
    await engine.insert("calls", rows, { name: "calls_add_parked" });
    for (const one of parts) written.set(partText(one), one);
    open = [...from.values()].map(({ key }) => key);
  }
  await unpark(engine, [...written.values()]);
}

/** Of each call the oldest part that is to be written: one that waits, or that came after those written. */
async function firstToWrite(
  engine: Engine,
  keys: readonly CallKey[],
  written: ReadonlyMap<string, ParkedPart>,
): Promise<ReadonlyMap<string, { key: CallKey; version: number }>> {
  const from = new Map<string, { key: CallKey; version: number }>();
  for (const [text, marks] of await findMarks(engine, keys)) {
    const oldest = marks.find((mark) => written.has(partText(mark)));
    const first = marks.find(
      (mark) =>
        !written.has(partText(mark)) &&
        (oldest === undefined ? !mark.resolved : !mark.resolved || mark.version > oldest.version),
    );
    if (first !== undefined) from.set(text, { key: first, version: first.version });
  }
  return from;
}

function partText(mark: Omit<ParkedPart, "part">): string {
  return JSON.stringify([keyText(mark), mark.version, mark.kind, mark.columnsHash]);
}
