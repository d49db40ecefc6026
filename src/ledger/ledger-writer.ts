import type { Engine } from "../store/engine.ts";
import type { Project } from "../shared/project.ts";
import { readFingerprints } from "./fingerprints.ts";
import { hoursOf, isOfHour } from "./group.ts";
import { oneOf } from "./hour.ts";
import { rowsOf, type SettledUnder } from "./rows.ts";
import type { Settlements } from "./settle.ts";

export interface SettleDeps {
  readonly engine: Engine;
  /** Does some work while this process writes no part of a call and begins no deletion. */
  readonly whileNoInsertRuns: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Ends the work; what is settled by then stays. */
  readonly signal: AbortSignal;
}

/** Entries that are written together, unless a group has more. */
const ENTRIES_PER_WRITE = 100_000;

/** Writes what is settled, several groups at once. It is compared again just before, so that nothing is stored of what was deleted. */
export class LedgerWriter implements Settlements {
  /** Hours whose own entries were written. */
  readonly settledHours = new Set<number>();
  readonly #deps: SettleDeps;
  readonly #project: Project;
  #waiting: SettledUnder[] = [];
  #entries = 0;

  constructor(deps: SettleDeps, project: Project) {
    this.#deps = deps;
    this.#project = project;
  }

  async add(settled: readonly SettledUnder[]): Promise<void> {
    this.#waiting.push(...settled);
    this.#entries += settled.reduce((sum, { entries }) => sum + entries.length, 0);
    if (this.#entries >= ENTRIES_PER_WRITE) await this.flush();
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#entries = 0;
    if (waiting.length === 0) return;
    const { engine, whileNoInsertRuns } = this.#deps;
    const hours = oneOf([...new Set(waiting.flatMap(hoursOf))]);
    const rows = new Map(waiting.map((one) => [one, rowsOf(this.#project, one)]));
    await whileNoInsertRuns(async () => {
      const now = await readFingerprints(engine, this.#project, hours, { name: "ledger_compare_rows" });
      const unchanged = waiting.filter((one) => now.of(one) === one.fingerprint);
      const written = unchanged.flatMap((one) => rows.get(one)!);
      await engine.insert("usage_ledger", written, { name: "ledger_add" });
      for (const one of unchanged) if (isOfHour(one)) this.settledHours.add(one.hour);
    });
  }
}
