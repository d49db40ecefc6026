import type { Engine } from "../store/engine.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { SelectedTrace, Selection } from "./selection.ts";
import { callRowBytes } from "./store.ts";

/** Calls read at once: limits memory, together with the largest trace. */
const CALLS_PER_READ = 50_000;
const TRACES_PER_READ = 2000;
/** Reads ahead. Folding blocks the thread, so a single one would only begin once the group before it is folded. */
const READS_AHEAD = 2;

/** Some whole traces as bytes, for `readCallTable`. */
export interface TraceBytes {
  readonly bytes: Buffer;
  readonly traces: readonly SelectedTrace[];
}

export interface TracesToRead {
  readonly selection: Selection;
  readonly traces: readonly SelectedTrace[];
  /** Columns besides those that the fold needs, each after a comma. `selected`: whether a call may be selected. */
  readonly columns?: (selected: Sql) => Sql;
}

/** All calls of all traces, a group of traces at a time, while the engine reads the next groups. */
export async function* readTraces(
  engine: Engine,
  { selection, traces, columns }: TracesToRead,
  options: { readonly maxCalls: number; readonly signal: AbortSignal },
): AsyncGenerator<TraceBytes> {
  const groups = groupTraces(traces);
  const read = (group: readonly SelectedTrace[]): Promise<Buffer> => {
    const isAsked = group[0]?.ids === undefined;
    const condition = isAsked ? selection.condition : sql`0`;
    const more = columns?.(isAsked ? condition : sql`1`);
    const request = {
      project: selection.project,
      traces: group,
      condition,
      limit: options.maxCalls + 1,
      more,
    };
    const bytes = callRowBytes(engine, request, options.signal);
    bytes.catch(() => undefined); // it is awaited some turns later
    return bytes;
  };
  const readings = groups.slice(0, READS_AHEAD).map(read);
  for (const [index, group] of groups.entries()) {
    const bytes = await readings.shift()!;
    const next = groups[index + READS_AHEAD];
    if (next !== undefined) readings.push(read(next));
    yield { bytes, traces: group };
  }
}

function groupTraces(traces: readonly SelectedTrace[]): SelectedTrace[][] {
  const groups: SelectedTrace[][] = [];
  let room = 0;
  for (const trace of traces) {
    const group = groups.at(-1);
    if (group === undefined || room < trace.callCount || group.length >= TRACES_PER_READ) {
      groups.push([trace]);
      room = CALLS_PER_READ - trace.callCount;
    } else {
      group.push(trace);
      room -= trace.callCount;
    }
  }
  return groups;
}
