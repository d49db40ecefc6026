import type { Engine } from "../store/engine.ts";
import type { Project } from "../shared/project.ts";
import { readFingerprints } from "./fingerprints.ts";
import { hoursIn, isSingleHour, hourIn } from "./hours.ts";
import { rowsOf, type MaterializedSlice } from "./rows.ts";
import type { RollupSink } from "./materialize.ts";

export interface RollupWriterDeps {
  readonly engine: Engine;
  /** Runs `work` while this process writes no call event and begins no deletion. */
  readonly runExclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Aborts between writes; written slices stay. */
  readonly signal: AbortSignal;
}

/** Usage records per insert, unless a single slice has more. */
const RECORDS_PER_WRITE = 100_000;

/** Inserts slices in batches. Rechecks their fingerprints just before the insert, so that no deleted data is stored. */
export class RollupWriter implements RollupSink {
  /** Hours whose single-hour span was written. */
  readonly materializedHours = new Set<number>();
  readonly #deps: RollupWriterDeps;
  readonly #project: Project;
  #pending: MaterializedSlice[] = [];
  #records = 0;

  constructor(deps: RollupWriterDeps, project: Project) {
    this.#deps = deps;
    this.#project = project;
  }

  async add(materialized: readonly MaterializedSlice[]): Promise<void> {
    this.#pending.push(...materialized);
    this.#records += materialized.reduce((sum, { records }) => sum + records.length, 0);
    if (this.#records >= RECORDS_PER_WRITE) await this.flush();
  }

  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#records = 0;
    if (pending.length === 0) return;
    const { engine, runExclusive, signal } = this.#deps;
    const reading = { engine, project: this.#project, signal };
    const hours = hourIn([...new Set(pending.flatMap(hoursIn))]);
    const rows = new Map(pending.map((slice) => [slice, rowsOf(this.#project, slice)]));
    await runExclusive(async () => {
      const now = await readFingerprints(reading, hours, "usage_rollup_compare_rows");
      const unchanged = pending.filter((slice) => now.of(slice) === slice.fingerprint);
      const written = unchanged.flatMap((slice) => rows.get(slice)!);
      await engine.insert("usage_rollup", written, { name: "usage_rollup_add" });
      for (const slice of unchanged) if (isSingleHour(slice)) this.materializedHours.add(slice.hour);
    });
  }
}
