/** What a statement may use, by kind of work. Times in seconds, memory in bytes. */
export type LimitProfile = "interactive" | "heavy" | "ingest" | "maintenance";

export interface StatementLimits {
  readonly max_execution_time: number;
  readonly max_memory_usage: number;
}

export type LimitTable = Readonly<Record<LimitProfile, StatementLimits>>;

const MIB = 1024 * 1024;

export const defaultLimits: LimitTable = {
  interactive: { max_execution_time: 30, max_memory_usage: 2048 * MIB },
  heavy: { max_execution_time: 120, max_memory_usage: 4096 * MIB },
  ingest: { max_execution_time: 60, max_memory_usage: 2048 * MIB },
  maintenance: { max_execution_time: 600, max_memory_usage: 4096 * MIB },
};
