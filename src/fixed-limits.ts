const MIB = 1024 * 1024;

/** Limits and time-outs that no deployment has a reason to change. Tests start the service with others. */
export const FIXED_LIMITS = {
  /** A prompt with images; providers take at most 50 MB. */
  CHAT_BODY_LIMIT_BYTES: 64 * MIB,
  /** A training file; it is streamed. */
  TRAINING_BODY_LIMIT_BYTES: 1024 * MIB,
  /** Bodies of unanswered requests, decompressed: an eighth of the memory of a small server. */
  MAX_BODY_BYTES_IN_FLIGHT: 512 * MIB,
  /** Fewer if the limit on open files is lower. New ones above it are closed. */
  MAX_CONNECTIONS: 20_000,
  /** Bytes that wait for the store: what a slow disk takes in seconds. */
  INGEST_MAX_PENDING_BYTES: 256 * MIB,
  /** Twice what a large deployment streams at once. */
  UPSTREAM_MAX_CONCURRENT: 8000,
  UPSTREAM_CONNECT_TIMEOUT_MS: 10_000,
  /** Proxies close a connection after a minute of silence. */
  SSE_KEEP_ALIVE_MS: 15_000,
  /** Shorter than the minute after which most proxies give up. */
  STORE_MAX_WAIT_MS: 10_000,
  STORE_MAX_WAITING: 1000,
  /** Calls of one response: about a gigabyte of memory. */
  MAX_TRACE_CALLS: 2_000_000,
  /** Calls that one response reads besides the usage rollup; they are folded as they come. */
  MAX_STATS_CALLS: 20_000_000,
  /** Groups × buckets of one response, or traces of a list: about 300 MB. */
  MAX_STATS_AGGREGATES: 1_000_000,
  RECORDER_MAX_PENDING_CALLS: 10_000,
  RECORDER_MAX_PENDING_BYTES: 64 * MIB,
  /** Several times what the largest body and the largest response take. */
  MAX_EVENT_LOOP_DELAY_MS: 1000,
  /** A client sends nothing of its body, or reads nothing of its response. */
  CLIENT_STALL_TIMEOUT_MS: 120_000,
  /** A client may wait for a person, or for its own queue. */
  GATEWAY_STALL_TIMEOUT_MS: 600_000,
};

export type FixedLimits = Readonly<typeof FIXED_LIMITS>;
