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
import { keyOf, resolveStorageKeys, type RoutedEvent } from "../storage-key/resolve-keys.ts";
import { readDeletionMark } from "../storage-key/deletion-mark.ts";
import { writePending } from "./write-pending.ts";
import { keyText, type CallKey, type StorageKeyLookup } from "../storage-key/key-lookup.ts";

/** Writer of calls; every stored call passes through it. */
export interface CallWriter {
  /**
   * Resolves when the events are durable, with the trace of each; `undefined` if its call is unknown. Throws `StorageError`;
   * the caller may retry. `readAt`: deletion mark of the project before the reads from which the events were made, if any: they
   * are dropped if it was deleted since.
   */
  write(
    project: Project,
    events: readonly CallEvent[],
    readAt?: string,
  ): Promise<readonly (string | undefined)[]>;
  /** Runs `work` while no insert is running. */
  readonly runExclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Resolves when all accepted events are durable. */
  drain(): Promise<void>;
  /** Writes pending events of known calls left behind by a killed writer; returns the number of calls. */
  readonly sweep: () => Promise<number>;
  pendingBytes(): number;
}

interface WriterDeps {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
  readonly clock: Clock;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** Some thousand calls, whose indexing takes a fraction of the time of storing them. */
const MIN_PIPELINED_BYTES = 4 * 1024 * 1024;
const SWEEP_LIMIT = 1000;

/**
 * Creates the writer. Events with a known trace are inserted at once, in order of acknowledgement; others are pending until
 * their call is known. Writers of starts store, then read pending events; writers of events without a trace store them as
 * pending, then look up the start. So the second of the two, on any replica, sees the first. Source: docs/decisions/0001-call-storage.md.
 */
export function createCallWriter(
  { engine, traces, clock }: WriterDeps,
  settings: GroupCommitSettings,
): CallWriter {
  const tools: Tools = {
    engine,
    traces,
    indexTraceHours: createTraceHourIndex(engine),
    hasPending: createPendingCheck(engine),
    nextVersion: versions(clock),
  };
  const commit = createGroupCommit<RoutedEvent>({
    name: "calls_write",
    prepare: [
      (items) => resolveStorageKeys(items, traces),
      (items) => assignHourBuckets(tools, items),
      (items) => indexStarts(tools, items),
    ],
    flush: (items) => store(tools, items),
    sizeOf: (item) => sizeOf(item.event),
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
    minPipelinedBytes: MIN_PIPELINED_BYTES,
  });
  return {
    async write(project, events, readAt) {
      const items = events.map((event): RoutedEvent => ({
        project,
        event,
        readAt,
        call: keyText({ project, id: event.id }),
        traceId: event.traceId,
        hour: event.hour,
      }));
      await commit.write(items);
      return items.map((item) => item.traceId);
    },
    runExclusive: (work) => commit.runExclusive(work),
    drain: () => commit.drain(),
    pendingBytes: () => commit.pendingBytes(),
    sweep: () =>
      commit.runExclusive(async () => {
        const orphaned = await findOrphaned(engine, SWEEP_LIMIT);
        await writePending(tools, orphaned);
        return orphaned.length;
      }),
  };
}

type NextVersion = (newest: number) => number;

interface Tools {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
  readonly indexTraceHours: IndexTraceHours;
  readonly hasPending: HasPending;
  readonly nextVersion: NextVersion;
}

/** Indexes the starts; entries of calls that are never written are harmless. */
async function indexStarts({ engine, traces }: Tools, items: readonly RoutedEvent[]): Promise<void> {
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
  const { engine, nextVersion } = tools;
  const items = await withoutOutdated(engine, given);
  await engine.insert("calls", mergeEvents(items), { name: "calls_add" });
  const headers = await headersOf(tools, items);
  const waiting = items.flatMap((item) => {
    const isUnknown = item.traceId === undefined;
    const event = isUnknown ? item.event : headers.has(item.call) && orderSensitiveEvent(item.event);
    return event ? [{ project: item.project, event, isUnknown }] : [];
  });
  const pending = queue(waiting, headers, nextVersion);
  if (pending.length > 0) await addPending(engine, pending);
  const unresolved = [...headers.values()].flat().filter((header) => !header.resolved);
  await writePending(tools, distinct([...unresolved, ...pending]));
}

async function headersOf(
  { engine, hasPending }: Tools,
  items: readonly RoutedEvent[],
): Promise<ReadonlyMap<string, readonly PendingHeader[]>> {
  const projects = [...new Set(items.map(({ project }) => project))];
  if (!(await hasPending(projects))) return new Map();
  return findPendingHeaders(engine, distinct(items.map(keyOf)));
}

/** Drops tombstones of calls that were read before their project was deleted: they must not affect later calls. */
async function withoutOutdated(
  engine: Engine,
  items: readonly RoutedEvent[],
): Promise<readonly RoutedEvent[]> {
  const marks = new Map<Project, string>();
  for (const { project, readAt } of items)
    if (readAt !== undefined && !marks.has(project))
      marks.set(project, await readDeletionMark(engine, project));
  return items.filter(({ project, readAt }) => readAt === undefined || readAt === marks.get(project));
}

/** Appends events to the pending ones of their call. An event equal to the newest one is a retry and is skipped. */
function queue(
  waiting: readonly (ProjectEvent & { readonly isUnknown: boolean })[],
  headers: ReadonlyMap<string, readonly PendingHeader[]>,
  nextVersion: NextVersion,
): readonly PendingEvent[] {
  const pending: PendingEvent[] = [];
  const newest = new Map<string, PendingHeader>();
  for (const [text, known] of headers) newest.set(text, known.at(-1)!);
  for (const { project, event, isUnknown } of waiting) {
    const text = keyText({ project, id: event.id });
    const last = newest.get(text);
    const added = toPending(project, event, nextVersion(last?.version ?? 0));
    const isRetry = last?.kind === added.kind && last.columnsHash === added.columnsHash;
    if (isRetry && !(isUnknown && last.resolved)) continue;
    newest.set(text, added);
    pending.push(added);
  }
  return pending;
}

/**
 * Creates a hybrid logical clock in microseconds: each version exceeds all earlier ones and those stored for the call. So an
 * event sent after another was acknowledged has the larger version, even if the replicas' clocks differ.
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
