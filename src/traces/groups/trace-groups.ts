import { StatsFold } from "../../stats/sums/stats-fold.ts";
import type { Sums } from "../../stats/sums/sums.ts";
import type { FoldedTrace } from "../read/select-traces.ts";
import type { RecordGroup } from "./group-records.ts";

/** Sums of traces by the group and bucket of their roots. A key has values of the root, as `Dimensions.callKey` prints them. */
export class TraceGroups extends StatsFold {
  addRecords(row: RecordGroup): void {
    const into = this.at(row.key, row.bucketUs);
    this.aggregates.sums.addSummed(into, row);
    this.addLatencies(into, row.latency, row.latencies);
  }

  addFolded(
    { startedUs, latencyMs: ms, hasFailed, figures, row }: FoldedTrace,
    sums: Sums,
    key: string,
  ): void {
    const into = this.at(key, startedUs);
    this.aggregates.sums.addFrom(sums, row, into);
    this.aggregates.sums.addTrace(into, { hasFailed, hasFailures: figures.failed > 0 });
    if (ms !== undefined) this.addLatencies(into, { count: 1, sum: ms, min: ms, max: ms }, [ms]);
  }

  private at(key: string, us: number): number {
    const group = this.groups.numberOf(key, { llm: null, provider: null });
    return this.aggregates.at(group, this.bucketAt(us));
  }
}
