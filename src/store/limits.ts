/** Class of statements with common limits. */
export type LimitProfile = "interactive" | "heavy" | "ingest" | "maintenance";

/** ClickHouse settings, in seconds and bytes. */
export interface StatementLimits {
  readonly max_execution_time: number;
  readonly max_memory_usage: number;
  /** Results are buffered in memory. */
  readonly max_result_bytes: number;
}

export type LimitTable = Readonly<Record<LimitProfile, StatementLimits>>;

export interface ConfiguredLimits {
  readonly interactiveSeconds: number;
  readonly interactiveBytes: number;
  readonly heavySeconds: number;
  readonly heavyBytes: number;
}

const GIB = 1024 ** 3;

/** Builds the table; limits of writes and maintenance are not configurable. */
export function limitTable(configured: ConfiguredLimits): LimitTable {
  return {
    interactive: {
      max_execution_time: configured.interactiveSeconds,
      max_memory_usage: configured.interactiveBytes,
      max_result_bytes: GIB / 4,
    },
    heavy: {
      max_execution_time: configured.heavySeconds,
      max_memory_usage: configured.heavyBytes,
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
