/** What a statement may use, by kind of work. Times in seconds, memory in bytes. */
export type LimitProfile = "interactive" | "heavy" | "ingest" | "maintenance";

export interface StatementLimits {
  readonly max_execution_time: number;
  readonly max_memory_usage: number;
  /** An answer is held in memory as a whole. */
  readonly max_result_bytes: number;
}

export type LimitTable = Readonly<Record<LimitProfile, StatementLimits>>;

export interface AskedLimits {
  readonly interactiveSeconds: number;
  readonly interactiveBytes: number;
  readonly heavySeconds: number;
  readonly heavyBytes: number;
}

const GIB = 1024 ** 3;

/** Writes and maintenance are ours: their bounds are not for operators to set. */
export function limitTable(asked: AskedLimits): LimitTable {
  return {
    interactive: {
      max_execution_time: asked.interactiveSeconds,
      max_memory_usage: asked.interactiveBytes,
      max_result_bytes: GIB / 4,
    },
    heavy: {
      max_execution_time: asked.heavySeconds,
      max_memory_usage: asked.heavyBytes,
      max_result_bytes: GIB,
    },
    ingest: { max_execution_time: 60, max_memory_usage: 2 * GIB, max_result_bytes: GIB / 2 },
    maintenance: { max_execution_time: 600, max_memory_usage: 4 * GIB, max_result_bytes: GIB / 4 },
  };
}

export const defaultLimits: LimitTable = limitTable({
  interactiveSeconds: 30,
  interactiveBytes: 2 * GIB,
  heavySeconds: 120,
  heavyBytes: 4 * GIB,
});
