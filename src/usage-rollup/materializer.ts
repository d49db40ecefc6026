import type { Clock } from "../shared/clock.ts";
import { hourOf } from "../shared/instant.ts";
import { hourKey, inChunks } from "./hours.ts";
import { RollupWriter, type RollupWriterDeps } from "./rollup-writer.ts";
import { materializeHours } from "./materialize.ts";
import { readHours, readPartitions, type Partition, type StoredHour } from "./stored-hours.ts";

export interface MaterializerDeps extends RollupWriterDeps {
  readonly clock: Clock;
}

export interface Materializer {
  /** Materializes past hours unchanged since the previous run, up to `ROWS_PER_RUN`. Returns how many. */
  run(): Promise<number>;
}

/** Rows of `calls` folded per run, unless a single hour has more. */
const ROWS_PER_RUN = 100_000;
const HOURS_PER_SCAN = 5000;
const MAX_REJECTED = 10_000;

/** Keeps the usage rollup up to date. Any number of processes may run one concurrently: manifests are self-validating. */
export function createMaterializer(deps: MaterializerDeps): Materializer {
  /** State of each partition when nothing was left to do. */
  const done = new Map<string, string>();
  /** Hours of each partition not materialized at the previous run, as `stateOf`. */
  const open = new Map<string, ReadonlySet<string>>();
  /** Hours that cannot be materialized unless they change, as `stateOf`. */
  const rejected = new Set<string>();

  /** Returns the hours materialized and the rows of `calls` folded. */
  const materializePartition = async (
    { id, state }: Partition,
    beforeHour: number,
    rowBudget: number,
  ): Promise<{ readonly hours: number; readonly rows: number }> => {
    const { engine, signal } = deps;
    const requested = { partition: id, beforeHour, unmaterialized: true, limit: HOURS_PER_SCAN, signal };
    const found = await readHours(engine, requested);
    const hours = found.filter((hour) => !rejected.has(stateOf(hour)));
    const before = open.get(id);
    open.set(id, new Set(hours.map(stateOf)));
    if (hours.length === 0) done.set(id, state);
    const selected: StoredHour[] = [];
    let rows = 0;
    for (const hour of hours) {
      if (rows >= rowBudget || before?.has(stateOf(hour)) !== true) continue;
      selected.push(hour);
      rows += hour.rows;
    }
    let materialized = 0;
    for (const { project, hours: some } of inChunks(selected)) {
      const writer = new RollupWriter(deps, project);
      const asked = { hours: some, beforeHour };
      const notMaterializable = await materializeHours({ engine, project, signal }, asked, writer);
      materialized += writer.materializedHours.size;
      if (rejected.size > MAX_REJECTED) rejected.clear();
      for (const hour of some) if (notMaterializable.includes(hour.hour)) rejected.add(stateOf(hour));
    }
    return { hours: materialized, rows };
  };

  return {
    async run() {
      const beforeHour = hourOf(deps.clock.now() * 1000);
      let rowBudget = ROWS_PER_RUN;
      let materialized = 0;
      try {
        for (const partition of await readPartitions(deps.engine, deps.signal)) {
          // hours end, and traces spread to other partitions, without a change of this one
          const state = `${partition.state} ${beforeHour}`;
          if (rowBudget <= 0 || done.get(partition.id) === state) continue;
          const { hours, rows } = await materializePartition({ ...partition, state }, beforeHour, rowBudget);
          materialized += hours;
          rowBudget -= rows;
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
