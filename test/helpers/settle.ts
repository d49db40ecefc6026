import type { Engine } from "../../src/store/engine.ts";
import { inChunks } from "../../src/ledger/hour-chunks.ts";
import { settleGroups } from "../../src/ledger/settle-groups.ts";
import { settleHours } from "../../src/ledger/settle-hours.ts";
import { readPartitions, readHours } from "../../src/ledger/stored-hours.ts";

const { signal } = new AbortController();

/** Settles every hour of the store; returns how many. */
export async function settleAll(engine: Engine): Promise<number> {
  let count = 0;
  for (const { id } of await readPartitions(engine, signal)) {
    const hours = await readHours(engine, {
      partition: id,
      beforeHour: 1_000_000_000,
      settled: false,
      limit: 10_000,
      signal,
    });
    const deps = { engine, between: <Result>(work: () => Promise<Result>) => work(), signal };
    count += hours.length - (await settleHours(deps, hours)).length;
    for (const one of inChunks(hours)) await settleGroups(deps, { ...one, beforeHour: 1_000_000_000 });
  }
  return count;
}

/** The engine as if the ledger were empty, so that everything is folded live. */
export function withoutLedger(engine: Engine): Engine {
  const rows: Engine["rows"] = (query, options) =>
    options.name === "ledger_find" ? Promise.resolve([]) : engine.rows(query, options);
  return { ...engine, rows };
}
