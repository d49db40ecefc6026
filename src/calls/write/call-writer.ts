import type { Engine } from "../../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../../store/group-commit.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import type { Project } from "../../shared/project.ts";
import type { CallEvent } from "../events/call-event.ts";
import { assignHourBuckets } from "../storage-key/assign-hour-buckets.ts";
import { insertCalls } from "./insert-calls.ts";
import { createTraceHourIndex, type IndexTraceHours } from "../storage-key/trace-hours.ts";
import { ELSEWHERE } from "../reports/find-reports.ts";
import {
  elsewhereRow,
  findSuperseded,
  nameRows,
  reportsAmong,
  supersededRows,
} from "../reports/superseded-calls.ts";
import { addPending, createPendingSearch, type FindWaiting } from "./pending-events.ts";
import { keyOf, resolveStorageKeys, type RoutedEvent } from "../storage-key/resolve-keys.ts";
import { readDeletionMark } from "../storage-key/deletion-mark.ts";
import {
  indexCallKeys,
  keyText,
  type CallKey,
  type CallRow,
  type StorageKeyLookup,
} from "../storage-key/key-lookup.ts";

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
  pendingBytes(): number;
}

interface WriterDeps {
  readonly engine: Engine;
  readonly lookup: StorageKeyLookup;
  /** Called when calls of a project do not count, or no longer: its usage is not the sum of what was written. */
  readonly onSuperseded?: (project: Project) => void;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** Some thousand calls, whose indexing takes a fraction of the time of storing them. */
const MIN_PIPELINED_BYTES = 4 * 1024 * 1024;
/** Their pending events are read at once. */
const CALLS_PER_INSERT = 1000;

/**
 * Creates the writer. Events with a known trace are inserted at once, in order of acknowledgement; others are pending until
 * their call is known. Writers of starts index their keys, then read pending events; writers of events without a trace store
 * them as pending, then look up the key. So the second of the two, in any service, sees the first. Source:
 * docs/decisions/0001-call-storage.md.
 */
export function createCallWriter(
  { engine, lookup, onSuperseded = () => undefined }: WriterDeps,
  settings: GroupCommitSettings,
): CallWriter {
  const tools: Tools = {
    engine,
    lookup,
    indexTraceHours: createTraceHourIndex(engine),
    findWaiting: createPendingSearch(engine),
    onSuperseded,
  };
  const commit = createGroupCommit<RoutedEvent>({
    name: "calls_write",
    async prepare(items) {
      await resolveStorageKeys(items, lookup);
      await assignHourBuckets(tools, items);
      await indexStarts(tools, items);
    },
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
  };
}

interface Tools {
  readonly engine: Engine;
  readonly lookup: StorageKeyLookup;
  readonly indexTraceHours: IndexTraceHours;
  readonly findWaiting: FindWaiting;
  readonly onSuperseded: (project: Project) => void;
}

/** Indexes starts and reports of requests; entries of calls that are never written are harmless. */
async function indexStarts({ engine, lookup }: Tools, items: readonly RoutedEvent[]): Promise<void> {
  const starts = items.filter(({ event }) => event.isStart);
  await indexCallKeys(engine, [...rowsOf(starts), ...nameRows(reportsAmong(items))]);
  for (const { project, event, traceId, hour } of starts)
    lookup.remember({ project, id: event.id }, { traceId: traceId!, hour: hour! });
}

async function store(tools: Tools, given: readonly RoutedEvent[]): Promise<void> {
  const { engine } = tools;
  const current = await withoutOutdated(engine, given);
  const reports = reportsAmong(current);
  const elsewhere = await findSuperseded(engine, reports);
  const items = current.map((item) => (elsewhere.has(item) ? countedElsewhere(item) : item));
  const superseded = supersededRows(engine, reports);
  const { value: first } = await superseded.next();
  await insertEvents(tools, items, first ?? []);
  for (const row of [...(first ?? []), ...rowsOf([...elsewhere])]) tools.onSuperseded(row.project_id);
  for await (const rows of superseded) await insertCalls(tools, rows, []);
  if (reports.length === 0 || !hasOtherWriters(engine)) return;
  // another service may have stored a report of the same request meanwhile: the later of the two sees the other
  const missed = await findSuperseded(engine, reports);
  const own = reports.filter(({ item }) => missed.has(item) && !elsewhere.has(item));
  await insertCalls(
    tools,
    own.map((report) => elsewhereRow(report.project, report)),
    [],
  );
  for await (const rows of supersededRows(engine, reports)) await insertCalls(tools, rows, []);
}

function hasOtherWriters(engine: Engine): boolean {
  return engine.writeCountOf("calls") === undefined;
}

function countedElsewhere(item: RoutedEvent): RoutedEvent {
  const { event } = item;
  return { ...item, event: { ...event, columns: { ...event.columns, usage_source: ELSEWHERE } } };
}

/** Inserts events, `more` with those whose calls are known. */
async function insertEvents(
  tools: Tools,
  items: readonly RoutedEvent[],
  more: readonly CallRow[],
): Promise<void> {
  const waiting = await tools.findWaiting(items.map(keyOf));
  const mustWait = ({ traceId, call }: RoutedEvent): boolean => traceId === undefined || waiting.has(call);
  const late = items.filter(mustWait);
  await addPending(tools.engine, late);
  const known = late.length === 0 ? items : items.filter((item) => !mustWait(item));
  await insertCalls(tools, [...rowsOf(known), ...more], []);
  for (const some of chunksOf(late, CALLS_PER_INSERT))
    await insertCalls(tools, rowsOf(some), distinct(some.map(keyOf)));
}

/** Converts events of known calls to rows. */
function rowsOf(items: readonly RoutedEvent[]): readonly CallRow[] {
  return items.flatMap(({ project, event, traceId, hour }): readonly CallRow[] =>
    traceId === undefined || hour === undefined
      ? []
      : [{ project_id: project, hour, trace_id: traceId, id: event.id, ...event.columns }],
  );
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

function distinct(keys: readonly CallKey[]): CallKey[] {
  return [...new Map(keys.map((key) => [keyText(key), key])).values()];
}

function sizeOf(event: CallEvent): number {
  let bytes = 256;
  for (const value of Object.values(event.columns)) if (typeof value === "string") bytes += value.length;
  return bytes;
}
