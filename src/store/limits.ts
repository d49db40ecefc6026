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

const GIB = 1024 ** 3;
const INTERACTIVE_SECONDS = 30;

/**
 * Builds the table from the limits of one heavy statement. An interactive statement has at most 30 s and half of the memory;
 * writes and maintenance have fixed limits.
 */
export function limitTable({
  seconds,
  bytes,
}: {
  readonly seconds: number;
  readonly bytes: number;
}): LimitTable {
  return {
    interactive: {
      max_execution_time: Math.min(seconds, INTERACTIVE_SECONDS),
      max_memory_usage: Math.floor(bytes / 2),
      max_result_bytes: GIB / 4,
    },
    heavy: { max_execution_time: seconds, max_memory_usage: bytes, max_result_bytes: GIB },
    ingest: { max_execution_time: 60, max_memory_usage: 2 * GIB, max_result_bytes: GIB / 2 },
    maintenance: { max_execution_time: 600, max_memory_usage: 4 * GIB, max_result_bytes: GIB / 4 },
  };
}

export const defaultLimits: LimitTable = limitTable({ seconds: 120, bytes: 4 * GIB });
