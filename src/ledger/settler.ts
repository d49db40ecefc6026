import type { Clock } from "../shared/clock.ts";
import { hourOf } from "../shared/instant.ts";
import { hourKey, type Hour } from "./hour.ts";
import { inChunks, type HoursOfProject } from "./hour-chunks.ts";
import { settleGroups } from "./settle-groups.ts";
import { settleHours, type SettleDeps } from "./settle-hours.ts";
import { readHours, readPartitions, type Partition, type StoredHour } from "./stored-hours.ts";

export interface SettlerDeps extends SettleDeps {
  readonly clock: Clock;
}

export interface Settler {
  /** Settles some hours that are over and have not changed since the run before. Returns how many. */
  run(): Promise<number>;
}

/** Rows of `calls` that are folded in one run, unless a single hour has more. */
const ROWS_PER_RUN = 100_000;
const HOURS_PER_LOOK = 5000;
const MAX_REFUSED = 10_000;

/** Keeps the ledger of a store. Any number of processes may do so at once: what each of them writes is right. */
export function createSettler(deps: SettlerDeps): Settler {
  /** Of each partition: as it was when nothing was left to do. */
  const done = new Map<string, string>();
  /** Of each partition the open hours, and how they were at the run before. */
  const open = new Map<string, ReadonlyMap<string, string>>();
  /** Hours, as they are, that cannot be settled. */
  const refused = new Set<string>();
  /** Of each partition the settled hours whose groups of spanning traces have not been looked at since. */
  const due = new Map<string, Hour[]>();

  /** Settles groups of spanning traces. Returns how many rows they had. */
  const settleDue = async (id: string, beforeHour: number, room: number): Promise<number> => {
    let rows = 0;
    const chunks = inChunks(due.get(id)!);
    for (const [place, { project, hours }] of chunks.entries()) {
      if (rows >= room) break;
      rows += await settleGroups(deps, { project, hours, beforeHour });
      due.set(id, chunks.slice(place + 1).flatMap(hoursOfChunk));
    }
    return rows;
  };

  /** Returns how many hours of a partition it has settled, and how many rows they had. */
  const settlePartition = async (
    { id, state }: Partition,
    { beforeHour, room }: { readonly beforeHour: number; readonly room: number },
  ): Promise<{ readonly hours: number; readonly rows: number }> => {
    const asked = { partition: id, beforeHour, settled: false, limit: HOURS_PER_LOOK, signal: deps.signal };
    const found = await readHours(deps.engine, asked);
    const before = open.get(id);
    const hours = found.filter((hour) => !refused.has(stateOf(hour)));
    open.set(id, new Map(hours.map((hour) => [hourKey(hour), hour.fingerprint])));
    if (!due.has(id)) due.set(id, [...(await readHours(deps.engine, { ...asked, settled: true }))]);
    const taken: StoredHour[] = [];
    let rows = 0;
    for (const hour of hours) {
      if (rows >= room || before?.get(hourKey(hour)) !== hour.fingerprint) continue;
      taken.push(hour);
      rows += hour.rows;
    }
    const left = new Set((await settleHours(deps, taken)).map(hourKey));
    if (refused.size > MAX_REFUSED) refused.clear();
    for (const hour of taken) {
      if (left.has(hourKey(hour))) refused.add(stateOf(hour));
      else due.get(id)!.push(hour);
    }
    rows += await settleDue(id, beforeHour, room - rows);
    if (hours.length === 0 && due.get(id)!.length === 0) done.set(id, state);
    return { hours: taken.length - left.size, rows };
  };

  return {
    async run() {
      const beforeHour = hourOf(deps.clock.now() * 1000);
      let room = ROWS_PER_RUN;
      let settled = 0;
      try {
        for (const partition of await readPartitions(deps.engine, deps.signal)) {
          // hours end, and traces come to lie in several partitions, without a change of this one
          const state = `${partition.state} ${beforeHour}`;
          if (room <= 0 || done.get(partition.id) === state) continue;
          const { hours, rows } = await settlePartition({ ...partition, state }, { beforeHour, room });
          settled += hours;
          room -= rows;
        }
      } catch (error) {
        if (!deps.signal.aborted) throw error;
      }
      return settled;
    },
  };
}

function hoursOfChunk({ project, hours }: HoursOfProject): readonly Hour[] {
  return hours.map((hour) => ({ project, hour }));
}

function stateOf(hour: StoredHour): string {
  return `${hour.fingerprint} ${hourKey(hour)}`;
}
