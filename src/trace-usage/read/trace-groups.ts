import type { SelectedTrace } from "../selection.ts";

/** Calls read at once: limits memory, together with the largest trace. */
const CALLS_PER_READ = 50_000;
const TRACES_PER_READ = 2000;

/** Traces that are read together. */
export function groupTraces(traces: readonly SelectedTrace[]): readonly (readonly SelectedTrace[])[] {
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

/** Reads ahead. Folding blocks the thread, so a single one would only begin once the group before it is folded. */
const READS_AHEAD = 2;

/** What reading each of some groups gives, in order, while the next groups are read. */
export async function* readAhead<Group, Read>(
  groups: readonly Group[],
  read: (group: Group) => Promise<Read>,
): AsyncGenerator<Read> {
  const start = (group: Group): Promise<Read> => {
    const reading = read(group);
    reading.catch(() => undefined); // it is awaited some turns later
    return reading;
  };
  const readings = groups.slice(0, READS_AHEAD).map(start);
  for (const index of groups.keys()) {
    const done = await readings.shift()!;
    const next = groups[index + READS_AHEAD];
    if (next !== undefined) readings.push(start(next));
    yield done;
  }
}
