import type { Engine } from "../../src/store/engine.ts";
import { inChunks } from "../../src/usage-rollup/hour-chunks.ts";
import { RollupWriter } from "../../src/usage-rollup/rollup-writer.ts";
import { materializeHours } from "../../src/usage-rollup/materialize.ts";
import { readPartitions, readHours } from "../../src/usage-rollup/stored-hours.ts";

const { signal } = new AbortController();

/** Settles every hour of the store that is not settled, in parts of about so many rows; returns how many. */
export async function materializeAll(engine: Engine, rowsPerFold = 50_000): Promise<number> {
  let count = 0;
  const deps = { engine, whileNoInsertRuns: <Result>(work: () => Promise<Result>) => work(), signal };
  for (const { id: partition } of await readPartitions(engine, signal)) {
    const asked = { partition, beforeHour: 1_000_000_000, unmaterialized: true, limit: 10_000, signal };
    for (const { project, hours } of inChunks(await readHours(engine, asked))) {
      const writer = new RollupWriter(deps, project);
      await materializeHours(deps, { project, hours, beforeHour: asked.beforeHour, rowsPerFold }, writer);
      count += writer.materializedHours.size;
    }
  }
  return count;
}

/** The engine as if the ledger were empty, so that everything is folded live. */
export function withoutRollup(engine: Engine): Engine {
  const rows: Engine["rows"] = (query, options) =>
    options.name === "usage_rollup_find" ? Promise.resolve([]) : engine.rows(query, options);
  return { ...engine, rows };
}
