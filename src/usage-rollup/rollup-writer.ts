import type { Engine } from "../store/engine.ts";
import type { Project } from "../shared/project.ts";
import { readFingerprints } from "./fingerprints.ts";
import { hoursIn, isSingleHour } from "./hour-span.ts";
import { hourIn } from "./hour.ts";
import { rowsOf, type MaterializedSlice } from "./rows.ts";
import type { RollupSink } from "./materialize.ts";

export interface RollupWriterDeps {
  readonly engine: Engine;
  /** Does some work while this process writes no part of a call and begins no deletion. */
  readonly whileNoInsertRuns: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Ends the work; what is settled by then stays. */
  readonly signal: AbortSignal;
}

/** Entries that are written together, unless a group has more. */
const RECORDS_PER_WRITE = 100_000;

/** Writes what is settled, several groups at once. It is compared again just before, so that nothing is stored of what was deleted. */
export class RollupWriter implements RollupSink {
  /** Hours whose own records were written. */
  readonly materializedHours = new Set<number>();
  readonly #deps: RollupWriterDeps;
  readonly #project: Project;
  #waiting: MaterializedSlice[] = [];
  #records = 0;

  constructor(deps: RollupWriterDeps, project: Project) {
    this.#deps = deps;
    this.#project = project;
  }

  async add(materialized: readonly MaterializedSlice[]): Promise<void> {
    this.#waiting.push(...materialized);
    this.#records += materialized.reduce((sum, { records }) => sum + records.length, 0);
    if (this.#records >= RECORDS_PER_WRITE) await this.flush();
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#records = 0;
    if (waiting.length === 0) return;
    const { engine, whileNoInsertRuns } = this.#deps;
    const hours = hourIn([...new Set(waiting.flatMap(hoursIn))]);
    const rows = new Map(waiting.map((one) => [one, rowsOf(this.#project, one)]));
    await whileNoInsertRuns(async () => {
      const now = await readFingerprints(engine, this.#project, hours, { name: "usage_rollup_compare_rows" });
      const unchanged = waiting.filter((one) => now.of(one) === one.fingerprint);
      const written = unchanged.flatMap((one) => rows.get(one)!);
      await engine.insert("usage_rollup", written, { name: "usage_rollup_add" });
      for (const one of unchanged) if (isSingleHour(one)) this.materializedHours.add(one.hour);
    });
  }
}
