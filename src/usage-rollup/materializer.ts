import type { Clock } from "../shared/clock.ts";
import { hourOf } from "../shared/instant.ts";
import { hourKey } from "./hour.ts";
import { inChunks } from "./hour-chunks.ts";
import { RollupWriter, type RollupWriterDeps } from "./rollup-writer.ts";
import { materializeHours } from "./materialize.ts";
import { readHours, readPartitions, type Partition, type StoredHour } from "./stored-hours.ts";

export interface MaterializerDeps extends RollupWriterDeps {
  readonly clock: Clock;
}

export interface Materializer {
  /** Settles some hours that are over and have not changed since the run before. Returns how many. */
  run(): Promise<number>;
}

/** Rows of `calls` that are folded in one run, unless a single hour has more. */
const ROWS_PER_RUN = 100_000;
const HOURS_PER_SCAN = 5000;
const MAX_REFUSED = 10_000;

/** Keeps the ledger of a store. Any number of processes may do so at once: what each of them writes is right. */
export function createMaterializer(deps: MaterializerDeps): Materializer {
  /** Of each partition: as it was when nothing was left to do. */
  const done = new Map<string, string>();
  /** Of each partition the open hours, as they were at the run before. */
  const open = new Map<string, ReadonlySet<string>>();
  /** Hours, as they are, that cannot be settled. */
  const refused = new Set<string>();

  /** Returns how many hours of a partition it has settled, and how many rows they had. */
  const materializePartition = async (
    { id, state }: Partition,
    { beforeHour, room }: { readonly beforeHour: number; readonly room: number },
  ): Promise<{ readonly hours: number; readonly rows: number }> => {
    const requested = {
      partition: id,
      beforeHour,
      unmaterialized: true,
      limit: HOURS_PER_SCAN,
      signal: deps.signal,
    };
    const found = await readHours(deps.engine, requested);
    const hours = found.filter((hour) => !refused.has(stateOf(hour)));
    const before = open.get(id);
    open.set(id, new Set(hours.map(stateOf)));
    if (hours.length === 0) done.set(id, state);
    const taken: StoredHour[] = [];
    let rows = 0;
    for (const hour of hours) {
      if (rows >= room || before?.has(stateOf(hour)) !== true) continue;
      taken.push(hour);
      rows += hour.rows;
    }
    let materialized = 0;
    for (const { project, hours: some } of inChunks(taken)) {
      const writer = new RollupWriter(deps, project);
      const impossible = await materializeHours(deps, { project, hours: some, beforeHour }, writer);
      materialized += writer.materializedHours.size;
      if (refused.size > MAX_REFUSED) refused.clear();
      for (const hour of some) if (impossible.includes(hour.hour)) refused.add(stateOf(hour));
    }
    return { hours: materialized, rows };
  };

  return {
    async run() {
      const beforeHour = hourOf(deps.clock.now() * 1000);
      let room = ROWS_PER_RUN;
      let materialized = 0;
      try {
        for (const partition of await readPartitions(deps.engine, deps.signal)) {
          // hours end, and traces come to lie in several partitions, without a change of this one
          const state = `${partition.state} ${beforeHour}`;
          if (room <= 0 || done.get(partition.id) === state) continue;
          const { hours, rows } = await materializePartition({ ...partition, state }, { beforeHour, room });
          materialized += hours;
          room -= rows;
        }
      } catch (error) {
        if (!deps.signal.aborted) throw error;
      }
      return materialized;
    },
  };
}

function stateOf(hour: StoredHour): string {
  return `${hour.fingerprint} ${hourKey(hour)}`;
}
