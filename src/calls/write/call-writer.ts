import type { Engine } from "../../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../../store/group-commit.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { orderSensitiveEvent, isStart, type CallEvent, type ProjectEvent } from "../events/call-event.ts";
import { assignHourBuckets } from "../storage-key/assign-hour-buckets.ts";
import { mergeEvents } from "./merge-events.ts";
import { indexCallKeys } from "../storage-key/index-call-keys.ts";
import { createTraceHourIndex, type IndexTraceHours } from "../storage-key/index-trace-hours.ts";
import {
  findOrphaned,
  findPendingHeaders,
  addPending,
  createPendingCheck,
  type HasPending,
  toPending,
  type PendingHeader,
  type PendingEvent,
} from "./pending-events.ts";
import { pinTraceIds, keyOf, resolveStorageKeys, type RoutedEvent } from "../storage-key/resolve-keys.ts";
import { readGenerations, type ProjectGeneration } from "../storage-key/project-generations.ts";
import { writePending } from "./write-pending.ts";
import { keyText, type CallKey, type StorageKeyLookup } from "../storage-key/key-lookup.ts";

/** The only way to store calls. */
export interface CallWriter {
  /**
   * Resolves when the parts are durable, with the trace of each; undefined if the call of the part is unknown.
   * Errors: `StorageError`; the caller may retry. `since`: set if the parts were made from rows read from the store.
   * They are then dropped if their project was deleted after that read.
   */
  write(
    project: Project,
    events: readonly CallEvent[],
    since?: ProjectGeneration,
  ): Promise<readonly (string | undefined)[]>;
  /** Does some work while no insert is running. */
  readonly runExclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Resolves when all accepted parts are durable. */
  drain(): Promise<void>;
  /** Writes the pending parts of known calls that a killed writer left behind; returns the number of calls. */
  readonly sweep: () => Promise<number>;
  pendingBytes(): number;
}

interface WriterDeps {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
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
    noteTraces: createTraceHourIndex(engine),
    haveMarks: createPendingCheck(engine),
    nextVersion: versions(clock),
  };
  const commit = createGroupCommit<RoutedEvent>({
    name: "calls_write",
    prepare: [
      (items) => place(tools, items),
      (items) => assignHourBuckets(tools, items),
      (items) => note(tools, items),
    ],
    keyOf: monthOf,
    maxKeys: MAX_BATCH_MONTHS,
    flush: (items) => store(tools, items),
    sizeOf: (item) => sizeOf(item.event),
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
    minPipelinedBytes: MIN_BYTES_BESIDE,
  });
  return {
    async write(project, events, since) {
      const items = events.map((event): RoutedEvent => ({
        project,
        event,
        readAtGeneration: since,
        call: keyText({ project, id: event.id }),
        resolvedAtGeneration: undefined,
        traceId: event.traceId,
        hour: event.hour,
      }));
      await commit.write(items);
      return items.map((item) => item.traceId);
    },
    runExclusive: (work) => commit.whileNoInsertRuns(work),
    drain: () => commit.drain(),
    pendingBytes: () => commit.pendingBytes(),
    sweep: () =>
      commit.whileNoInsertRuns(async () => {
        const forgotten = await findOrphaned(engine, SWEEP_LIMIT);
        await writePending(tools, forgotten);
        return forgotten.length;
      }),
  };
}

type NextVersion = (newest: number) => number;

interface Tools {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
  readonly noteTraces: IndexTraceHours;
  readonly haveMarks: HasPending;
  readonly nextVersion: NextVersion;
}

async function place({ traces }: Tools, items: readonly RoutedEvent[]): Promise<void> {
  await refreshGenerations(items, traces);
  await resolveStorageKeys(items, traces);
  if (new Set(items.map(monthOf)).size > MAX_BATCH_MONTHS) pinTraceIds(items);
}

/** Which partition the call is in. */
function monthOf({ hour }: RoutedEvent): number | undefined {
  if (hour === undefined) return undefined;
  const date = new Date(hour * 3_600_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Notes where calls begin. Notes about parts that are never written do no harm. */
async function note({ engine, traces }: Tools, items: readonly RoutedEvent[]): Promise<void> {
  const starts = items
    .filter(({ event }) => isStart(event))
    .map(({ project, event, traceId, hour }) => ({
      project_id: project,
      trace_id: traceId!,
      id: event.id,
      hour: hour!,
    }));
  await indexCallKeys(engine, starts);
  for (const { project_id: project, id, trace_id: traceId, hour } of starts)
    traces.remember({ project, id }, { traceId, hour });
}

async function store(tools: Tools, given: readonly RoutedEvent[]): Promise<void> {
  const { engine, traces, nextVersion } = tools;
  const items = await dropIfProjectDeleted(engine, given);
  await engine.insert("calls", mergeEvents(items), { name: "calls_add" });
  const [marks, doubted] = await Promise.all([marksOf(tools, items), resolvedFromCache(items, traces)]);
  const waiting = items.flatMap((item) => {
    const isUnknown = item.traceId === undefined || doubted.has(item);
    const event = isUnknown ? item.event : marks.has(item.call) && orderSensitiveEvent(item.event);
    return event ? [{ project: item.project, event, isUnknown }] : [];
  });
  const pending = queue(waiting, marks, nextVersion);
  if (pending.length > 0) await addPending(engine, pending);
  const left = [...marks.values()].flat().filter((mark) => !mark.resolved);
  await writePending(tools, distinct([...left, ...pending]));
}

async function marksOf(
  { engine, haveMarks }: Tools,
  items: readonly RoutedEvent[],
): Promise<ReadonlyMap<string, readonly PendingHeader[]>> {
  const projects = [...new Set(items.map(({ project }) => project))];
  if (!(await haveMarks(projects))) return new Map();
  return findPendingHeaders(engine, distinct(items.map(keyOf)));
}

/** A start sent again goes where the first one went, unless that was deleted with its project. */
async function refreshGenerations(items: readonly RoutedEvent[], traces: StorageKeyLookup): Promise<void> {
  const again = items.filter((item) => isStart(item.event) && traces.recall(keyOf(item)) !== undefined);
  if (again.length > 0) await traces.readGenerations([...new Set(again.map(({ project }) => project))]);
}

/** Tombstones for calls read from the store must not reach calls that come after the project was deleted. */
async function dropIfProjectDeleted(
  engine: Engine,
  items: readonly RoutedEvent[],
): Promise<readonly RoutedEvent[]> {
  const asked = [...new Set(items.flatMap(({ readAtGeneration: since }) => since?.project ?? []))];
  if (asked.length === 0) return items;
  const generations = await readGenerations(engine, asked);
  return items.filter(
    ({ readAtGeneration: since }) =>
      since === undefined || since.generation === generations.get(since.project),
  );
}

/**
 * Parts placed by the cache whose project may have been deleted since: the call they were written to is gone, so their
 * call counts as unknown.
 */
async function resolvedFromCache(
  items: readonly RoutedEvent[],
  traces: StorageKeyLookup,
): Promise<ReadonlySet<RoutedEvent>> {
  const started = new Set(items.filter((item) => isStart(item.event)).map((item) => item.call));
  const remembered = items.filter(
    (item) => item.traceId !== undefined && item.event.traceId === undefined && !started.has(item.call),
  );
  if (remembered.length === 0) return new Set();
  const generations = await traces.readGenerations([...new Set(remembered.map((item) => item.project))]);
  return new Set(remembered.filter((item) => item.resolvedAtGeneration !== generations.get(item.project)));
}

/** Queues parts behind those of their call. A part equal to the newest one is a repetition and is not queued again. */
function queue(
  waiting: readonly (ProjectEvent & { readonly isUnknown: boolean })[],
  marks: ReadonlyMap<string, readonly PendingHeader[]>,
  nextVersion: NextVersion,
): readonly PendingEvent[] {
  const pending: PendingEvent[] = [];
  const newest = new Map<string, PendingHeader>();
  for (const [text, ofCall] of marks) newest.set(text, ofCall.at(-1)!);
  for (const { project, event, isUnknown } of waiting) {
    const text = keyText({ project, id: event.id });
    const last = newest.get(text);
    const one = toPending(project, event, nextVersion(last?.version ?? 0));
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

function sizeOf(event: CallEvent): number {
  let bytes = 256;
  for (const value of Object.values(event.columns)) if (typeof value === "string") bytes += value.length;
  return bytes;
}
