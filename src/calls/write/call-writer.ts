import type { Engine } from "../../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../../store/group-commit.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { contestedPart, isStart, type CallPart, type ProjectPart } from "../parts/call-part.ts";
import { chooseHours } from "../place/choose-hours.ts";
import { joinParts } from "./join-parts.ts";
import { noteStarts } from "../place/note-starts.ts";
import { createTraceNotes, type NoteTraces } from "../place/note-traces.ts";
import {
  findForgotten,
  findMarks,
  addPending,
  createMarkCheck,
  type HaveMarks,
  toPending,
  type PendingMark,
  type PendingPart,
} from "./pending-parts.ts";
import { keepTraces, keyOf, placeParts, type Placed } from "../place/place-parts.ts";
import { readFences, type Fence } from "../place/project-fences.ts";
import { writePending } from "./write-pending.ts";
import { keyText, type CallKey, type PlaceLookup } from "../place/place-lookup.ts";

/** The only way to store calls. */
export interface CallWriter {
  /**
   * Resolves when the parts are durable, with the trace of each; undefined if the call of the part is unknown.
   * Errors: `StorageError`; the caller may retry. `since`: set if the parts were made from rows read from the store.
   * They are then dropped if their project was deleted after that read.
   */
  write(
    project: Project,
    parts: readonly CallPart[],
    since?: Fence,
  ): Promise<readonly (string | undefined)[]>;
  /** Does some work while no insert is running. */
  readonly whileNoInsertRuns: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Resolves when all accepted parts are durable. */
  drain(): Promise<void>;
  /** Writes the pending parts of known calls that a killed writer left behind; returns the number of calls. */
  readonly sweep: () => Promise<number>;
  pendingBytes(): number;
}

interface WriterDeps {
  readonly engine: Engine;
  readonly traces: PlaceLookup;
  readonly clock: Clock;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** Some thousand calls: noting them takes a fraction of what storing them does. */
const MIN_BYTES_BESIDE = 4 * 1024 * 1024;
/** Each is a part of its own on the disk, or several, and is synced. */
const MAX_BATCH_MONTHS = 4;
const SWEEP_LIMIT = 1000;

/**
 * Parts with a known trace are inserted at once: the store keeps them in the order of acknowledgement. The others are
 * pending until their call is known. Write first, then look: the writer of a start stores it and then looks for pending
 * parts; the writer of a part without a trace stores it as pending and then looks for the start. Whichever comes second,
 * on any replica, sees the first. Source: docs/decisions/0001-call-storage.md.
 */
export function createCallWriter(
  { engine, traces, clock }: WriterDeps,
  settings: GroupCommitSettings,
): CallWriter {
  const tools: Tools = {
    engine,
    traces,
    noteTraces: createTraceNotes(engine),
    haveMarks: createMarkCheck(engine),
    nextVersion: versions(clock),
  };
  const commit = createGroupCommit<Placed>({
    name: "calls_write",
    prepare: [
      (items) => place(tools, items),
      (items) => chooseHours(tools, items),
      (items) => note(tools, items),
    ],
    placeOf: monthOf,
    maxPlaces: MAX_BATCH_MONTHS,
    flush: (items) => store(tools, items),
    sizeOf: (item) => sizeOf(item.part),
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
    minBytesBeside: MIN_BYTES_BESIDE,
  });
  return {
    async write(project, parts, since) {
      const items = parts.map((part): Placed => ({
        project,
        part,
        since,
        call: keyText({ project, id: part.id }),
        placedUnder: undefined,
        traceId: part.traceId,
        hour: part.hour,
      }));
      await commit.write(items);
      return items.map((item) => item.traceId);
    },
    whileNoInsertRuns: (work) => commit.whileNoInsertRuns(work),
    drain: () => commit.drain(),
    pendingBytes: () => commit.pendingBytes(),
    sweep: () =>
      commit.whileNoInsertRuns(async () => {
        const forgotten = await findForgotten(engine, SWEEP_LIMIT);
        await writePending(tools, forgotten);
        return forgotten.length;
      }),
  };
}

type NextVersion = (newest: number) => number;

interface Tools {
  readonly engine: Engine;
  readonly traces: PlaceLookup;
  readonly noteTraces: NoteTraces;
  readonly haveMarks: HaveMarks;
  readonly nextVersion: NextVersion;
}

async function place({ traces }: Tools, items: readonly Placed[]): Promise<void> {
  await refreshFences(items, traces);
  await placeParts(items, traces);
  if (new Set(items.map(monthOf)).size > MAX_BATCH_MONTHS) keepTraces(items);
}

/** Which partition the call is in. */
function monthOf({ hour }: Placed): number | undefined {
  if (hour === undefined) return undefined;
  const date = new Date(hour * 3_600_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Notes where calls begin. Notes about parts that are never written do no harm. */
async function note({ engine, traces }: Tools, items: readonly Placed[]): Promise<void> {
  const starts = items
    .filter(({ part }) => isStart(part))
    .map(({ project, part, traceId, hour }) => ({
      project_id: project,
      trace_id: traceId!,
      id: part.id,
      hour: hour!,
    }));
  await noteStarts(engine, starts);
  for (const { project_id: project, id, trace_id: traceId, hour } of starts)
    traces.remember({ project, id }, { traceId, hour });
}

async function store(tools: Tools, given: readonly Placed[]): Promise<void> {
  const { engine, traces, nextVersion } = tools;
  const items = await dropIfProjectDeleted(engine, given);
  await engine.insert("calls", joinParts(items), { name: "calls_add" });
  const [marks, doubted] = await Promise.all([marksOf(tools, items), placedByMemory(items, traces)]);
  const waiting = items.flatMap((item) => {
    const isUnknown = item.traceId === undefined || doubted.has(item);
    const part = isUnknown ? item.part : marks.has(item.call) && contestedPart(item.part);
    return part ? [{ project: item.project, part, isUnknown }] : [];
  });
  const pending = queue(waiting, marks, nextVersion);
  if (pending.length > 0) await addPending(engine, pending);
  const left = [...marks.values()].flat().filter((mark) => !mark.resolved);
  await writePending(tools, distinct([...left, ...pending]));
}

async function marksOf(
  { engine, haveMarks }: Tools,
  items: readonly Placed[],
): Promise<ReadonlyMap<string, readonly PendingMark[]>> {
  const projects = [...new Set(items.map(({ project }) => project))];
  if (!(await haveMarks(projects))) return new Map();
  return findMarks(engine, distinct(items.map(keyOf)));
}

/** A start sent again goes where the first one went, unless that was deleted with its project. */
async function refreshFences(items: readonly Placed[], traces: PlaceLookup): Promise<void> {
  const again = items.filter((item) => isStart(item.part) && traces.recall(keyOf(item)) !== undefined);
  if (again.length > 0) await traces.readFences([...new Set(again.map(({ project }) => project))]);
}

/** Tombstones for calls read from the store must not reach calls that come after the project was deleted. */
async function dropIfProjectDeleted(engine: Engine, items: readonly Placed[]): Promise<readonly Placed[]> {
  const asked = [...new Set(items.flatMap(({ since }) => since?.project ?? []))];
  if (asked.length === 0) return items;
  const fences = await readFences(engine, asked);
  return items.filter(({ since }) => since === undefined || since.fence === fences.get(since.project));
}

/**
 * Parts placed by the cache whose project may have been deleted since: the call they were written to is gone, so their
 * call counts as unknown.
 */
async function placedByMemory(items: readonly Placed[], traces: PlaceLookup): Promise<ReadonlySet<Placed>> {
  const started = new Set(items.filter((item) => isStart(item.part)).map((item) => item.call));
  const remembered = items.filter(
    (item) => item.traceId !== undefined && item.part.traceId === undefined && !started.has(item.call),
  );
  if (remembered.length === 0) return new Set();
  const fences = await traces.readFences([...new Set(remembered.map((item) => item.project))]);
  return new Set(remembered.filter((item) => item.placedUnder !== fences.get(item.project)));
}

/** Queues parts behind those of their call. A part equal to the newest one is a repetition and is not queued again. */
function queue(
  waiting: readonly (ProjectPart & { readonly isUnknown: boolean })[],
  marks: ReadonlyMap<string, readonly PendingMark[]>,
  nextVersion: NextVersion,
): readonly PendingPart[] {
  const pending: PendingPart[] = [];
  const newest = new Map<string, PendingMark>();
  for (const [text, ofCall] of marks) newest.set(text, ofCall.at(-1)!);
  for (const { project, part, isUnknown } of waiting) {
    const text = keyText({ project, id: part.id });
    const last = newest.get(text);
    const one = toPending(project, part, nextVersion(last?.version ?? 0));
    const isSaid = last?.kind === one.kind && last.columnsHash === one.columnsHash;
    if (isSaid && !(isUnknown && last.resolved)) continue;
    newest.set(text, one);
    pending.push(one);
  }
  return pending;
}

/**
 * A hybrid logical clock in microseconds: each version is above all earlier ones and above those the store has for the
 * call. So a part sent after another was acknowledged has the larger version, even if the replicas' clocks differ.
 */
function versions(clock: Clock): NextVersion {
  let last = 0;
  return (newest) => (last = Math.max(clock.now() * 1000, newest + 1, last + 1));
}

function distinct(keys: readonly CallKey[]): CallKey[] {
  return [...new Map(keys.map((key) => [keyText(key), key])).values()];
}

function sizeOf(part: CallPart): number {
  let bytes = 256;
  for (const value of Object.values(part.columns)) if (typeof value === "string") bytes += value.length;
  return bytes;
}
