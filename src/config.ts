import { z } from "zod";

const port = z.coerce.number().int().min(0).max(65_535);
const positiveMs = z.coerce.number().int().min(1);
const bytes = z.coerce.number().int().min(1024);
const count = z.coerce.number().int().min(1);
const upstreamUrl = z.url({ protocol: /^https?$/ });
/** Whose `X-Forwarded-For` is believed: nobody's, everybody's, or that of these addresses and networks. */
const trustProxy = z
  .string()
  .regex(/^(true|false|[\da-fA-F.:/]+(,[\da-fA-F.:/]+)*)$/, "must be true, false, or addresses and networks")
  .transform((text) => (text === "true" || text === "false" ? text === "true" : text));

/** Every setting, its default and its unit. An empty variable counts as not set. */
const schema = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(8080),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  DATA_DIR: z.string().default("./data"),
  CLICKHOUSE_URL: z.url({ protocol: /^https?$/ }).optional(),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional(),
  CLICKHOUSE_INSERT_QUORUM: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, "must be auto or a number of replicas")
    .default("auto"),
  TRUST_PROXY: trustProxy.default(false),
  ROOT_API_KEY: z.string().min(32, "must have at least 32 characters").max(512).optional(),
  FAILED_AUTH_PER_MINUTE: count.default(60),
  RATE_LIMIT_PER_MINUTE: count.default(60_000),
  KEY_MAX_CONCURRENT: count.default(256),
  DEFAULT_ENTITY: z
    .string()
    .regex(/^[^/\s]{1,128}$/)
    .default("default"),
  BODY_LIMIT_BYTES: bytes.default(1024 * 1024),
  INGEST_BODY_LIMIT_BYTES: bytes.default(64 * 1024 * 1024),
  MAX_BODY_BYTES_IN_FLIGHT: bytes.default(512 * 1024 * 1024),
  MAX_STREAMED_ANSWERS: count.default(32),
  CLIENT_STALL_TIMEOUT_MS: positiveMs.default(60_000),
  MAX_EVENT_LOOP_DELAY_MS: positiveMs.default(1000),
  MAX_RSS_BYTES: z.coerce.number().int().min(0).default(0),
  STORE_MAX_CONCURRENT: count.optional(),
  STORE_MAX_WAITING: count.default(1000),
  STORE_MAX_WAIT_MS: positiveMs.default(10_000),
  QUERY_TIMEOUT_SECONDS: count.default(30),
  QUERY_MEMORY_BYTES: bytes.default(2 * 1024 ** 3),
  HEAVY_QUERY_TIMEOUT_SECONDS: count.default(120),
  HEAVY_QUERY_MEMORY_BYTES: bytes.default(4 * 1024 ** 3),
  MAX_TRACE_CALLS: count.default(2_000_000),
  MAX_FILTER_MEMBERS: count.default(10_000),
  MAX_METRICS: count.max(1000).default(100),
  MAX_PERCENTILES: count.max(1000).default(50),
  MAX_QUERY_DEPTH: z.coerce.number().int().min(1).max(100).default(64),
  MAX_QUERY_NODES: z.coerce.number().int().min(1).max(2000).default(1000),
  INGEST_LINGER_MS: z.coerce.number().int().min(0).max(1000).default(20),
  INGEST_MAX_PENDING_BYTES: bytes.default(256 * 1024 * 1024),
  SHUTDOWN_TIMEOUT_MS: positiveMs.default(30_000),

  TRAINING_UPSTREAM_URL: upstreamUrl.optional(),
  TRAINING_UPSTREAM_API_KEY: z.string().optional(),
  CHAT_UPSTREAM_URL: upstreamUrl.optional(),
  CHAT_UPSTREAM_API_KEY: z.string().optional(),
  TRAINING_PASS_THROUGH: z.stringbool().default(true),
  TRAINING_BODY_LIMIT_BYTES: bytes.default(1024 * 1024 * 1024),
  CHAT_BODY_LIMIT_BYTES: bytes.default(64 * 1024 * 1024),
  UPLOAD_IDLE_TIMEOUT_MS: positiveMs.default(120_000),
  UPSTREAM_MAX_CONCURRENT: count.default(4000),
  UPSTREAM_CONNECT_TIMEOUT_MS: positiveMs.default(10_000),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: positiveMs.default(1_200_000),
  UPSTREAM_SILENCE_TIMEOUT_MS: positiveMs.default(1_200_000),
  UPSTREAM_KEEP_ALIVE_MS: positiveMs.default(4000),
  SSE_KEEP_ALIVE_SECONDS: z.coerce.number().min(0).default(15),
  ASK_FOR_USAGE: z.stringbool().default(true),
  RECORD_COMPLETION_CONTENT: z.stringbool().default(true),
  RECORDER_MAX_PENDING_CALLS: count.default(10_000),
  RECORDER_MAX_PENDING_BYTES: bytes.default(64 * 1024 * 1024),
});

export type Config = Readonly<z.infer<typeof schema>>;

export const settingNames: readonly string[] = Object.keys(schema.shape);

/** Names every wrong setting at once. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/** Reads the settings. Errors: `ConfigError` with all problems; values are not repeated, they can be secrets. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = schema.safeParse(given);
  const problems = result.success
    ? []
    : result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  if (given["CLICKHOUSE_CLUSTER"] !== undefined && given["CLICKHOUSE_URL"] === undefined) {
    problems.push("CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL");
  }
  if (given["CLICKHOUSE_URL"] !== undefined && given["ROOT_API_KEY"] === undefined) {
    problems.push("ROOT_API_KEY: must be set when CLICKHOUSE_URL is set, so that all replicas share it");
  }
  if (!result.success || problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(result.data);
}
