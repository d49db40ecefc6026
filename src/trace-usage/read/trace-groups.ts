import type { SelectedTrace } from "../plan.ts";

/** Calls per read: bounds memory, together with the largest trace. */
const CALLS_PER_READ = 50_000;
const TRACES_PER_READ = 2000;

/** Groups traces for reads of up to `CALLS_PER_READ` calls. */
export function groupTraces(traces: readonly SelectedTrace[]): readonly (readonly SelectedTrace[])[] {
  const groups: SelectedTrace[][] = [];
  let budget = 0;
  for (const trace of traces) {
    const group = groups.at(-1);
    if (group === undefined || budget < trace.callCount || group.length >= TRACES_PER_READ) {
      groups.push([trace]);
      budget = CALLS_PER_READ - trace.callCount;
    } else {
      group.push(trace);
      budget -= trace.callCount;
    }
  }
  return groups;
}

/** Concurrent reads. Folding blocks the thread, so a single read would only begin after the previous group is folded. */
const READS_AHEAD = 2;

/** Yields the read groups in order, reading the next ones ahead. */
export async function* readAhead<Group, Read>(
  groups: readonly Group[],
  read: (group: Group) => Promise<Read>,
): AsyncGenerator<Read> {
  const start = (group: Group): Promise<Read> => {
    const reading = read(group);
    reading.catch(() => undefined); // awaited later
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
