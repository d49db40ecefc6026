import type { Engine } from "../../src/store/engine.ts";
import { inChunks } from "../../src/usage-rollup/hours.ts";
import { RollupWriter } from "../../src/usage-rollup/rollup-writer.ts";
import { materializeHours } from "../../src/usage-rollup/materialize.ts";
import { readPartitions, readHours } from "../../src/usage-rollup/stored-hours.ts";

const { signal } = new AbortController();

/** Materializes every hour of the store that is not materialized; returns how many. */
export async function materializeAll(engine: Engine, rowsPerFold = 50_000): Promise<number> {
  let count = 0;
  const deps = { engine, runExclusive: <Result>(work: () => Promise<Result>) => work(), signal };
  for (const { id: partition } of await readPartitions(engine, signal)) {
    const requested = { partition, beforeHour: 1_000_000_000, unmaterialized: true, limit: 10_000, signal };
    for (const { project, hours } of inChunks(await readHours(engine, requested))) {
      const writer = new RollupWriter(deps, project);
      await materializeHours(
        { ...deps, project },
        { hours, beforeHour: requested.beforeHour, rowsPerFold },
        writer,
      );
      count += writer.materializedHours.size;
    }
  }
  return count;
}

/** Hides the usage rollup, so that queries aggregate all calls. */
export function withoutRollup(engine: Engine): Engine {
  const rows: Engine["rows"] = (query, options) =>
    options.name === "usage_rollup_find" ? Promise.resolve([]) : engine.rows(query, options);
  return { ...engine, rows };
}
