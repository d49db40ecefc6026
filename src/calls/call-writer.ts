import type { Engine } from "../clickhouse/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../clickhouse/group-commit.ts";
import type { Project } from "../shared/project.ts";
import type { CallPart } from "./call-part.ts";
import { findForgotten, findParked, park, unpark, type ParkedPart } from "./parked-parts.ts";
import { keyText, type CallKey, type TraceLookup } from "./trace-lookup.ts";

/** The one way calls are stored, whoever sends them. */
export interface CallWriter {
  /** Resolves when the parts are durable. Errors: `StorageError`; the caller may send them again. */
  write(project: Project, parts: readonly CallPart[]): Promise<void>;
  /** Resolves when all that was accepted is durable. */
  drain(): Promise<void>;
  /** Writes what a killed writer has left parked although its call is known; returns how many parts. */
  sweep(): Promise<number>;
  pendingBytes(): number;
}

interface Item {
  readonly project: Project;
  readonly part: CallPart;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
const SWEEP_LIMIT = 1000;

/**
 * Parts that name their trace are written at once. The others are written when their call's trace is known, and
 * parked until then. Write first, then look: the writer of a start stores it and then looks for parked parts, the
 * writer of a part without a trace parks it and then looks for the start, so that whichever comes second, on
 * whichever replica, sees the first.
 */
export function createCallWriter(
  engine: Engine,
  traces: TraceLookup,
  settings: GroupCommitSettings,
): CallWriter {
  const commit = createGroupCommit<Item>({
    name: "calls_write",
    flush: (items) => store(engine, traces, items),
    sizeOf: (item) => sizeOf(item.part),
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
  return {
    write: (project, parts) => commit.write(parts.map((part) => ({ project, part }))),
    drain: () => commit.drain(),
    pendingBytes: () => commit.pendingBytes(),
    async sweep() {
      const forgotten = await findForgotten(engine, SWEEP_LIMIT);
      await writeParked(engine, traces, forgotten);
      return forgotten.length;
    },
  };
}

async function store(engine: Engine, traces: TraceLookup, items: readonly Item[]): Promise<void> {
  const started = items.filter((item) => item.part.kind === "start" || item.part.kind === "complete");
  const inBatch = new Map(started.map((item) => [keyText(keyOf(item)), item.part.traceId!]));
  const nameless = items.filter(
    (item) => item.part.traceId === undefined && !inBatch.has(keyText(keyOf(item))),
  );
  const known = await traces.find(nameless.map(keyOf));

  const rows: object[] = [];
  const unknown: ParkedPart[] = [];
  for (const item of items) {
    const key = keyText(keyOf(item));
    const traceId = item.part.traceId ?? inBatch.get(key) ?? known.get(key);
    if (traceId === undefined) unknown.push(item);
    else rows.push(toRow(item, traceId));
  }
  if (unknown.length > 0) await park(engine, unknown);
  await engine.insert("calls", rows, { name: "calls_add" });
  for (const item of started) traces.remember(keyOf(item), item.part.traceId!);

  if (unknown.length > 0) await writeParked(engine, traces, unknown);
  if (started.length > 0) await writeParked(engine, traces, await findParked(engine, started.map(keyOf)));
}

/** Writes those of the parked parts whose call has a trace by now. */
async function writeParked(
  engine: Engine,
  traces: TraceLookup,
  parked: readonly ParkedPart[],
): Promise<void> {
  if (parked.length === 0) return;
  const known = await traces.find(parked.map(keyOf), { fresh: true });
  const resolved = parked.filter((one) => known.has(keyText(keyOf(one))));
  if (resolved.length === 0) return;
  await engine.insert(
    "calls",
    resolved.map((one) => toRow(one, known.get(keyText(keyOf(one)))!)),
    {
      name: "calls_add_parked",
    },
  );
  await unpark(engine, resolved);
}

function keyOf(item: Item): CallKey {
  return { project: item.project, id: item.part.id };
}

function toRow(item: Item, traceId: string) {
  return { project_id: item.project, trace_id: traceId, id: item.part.id, ...item.part.columns };
}

function sizeOf(part: CallPart): number {
  let bytes = 256;
  for (const value of Object.values(part.columns)) if (typeof value === "string") bytes += value.length;
  return bytes;
}
