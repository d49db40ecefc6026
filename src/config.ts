import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { RouteSettings } from "./gateway/upstreams.ts";
import { FIXED_LIMITS, type FixedLimits } from "./fixed-limits.ts";
import { nearestNames } from "./query/nearest-names.ts";
import { readRoutesFile } from "./routes-file.ts";

/** Decimal digits only: "0x10" and "1e3" are rejected. */
const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
/** Node timers fire at once for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const positiveMs = whole(1, MAX_TIMER_MS);
const statementSeconds = whole(1, 86_400);
const bytes = whole(1024);
const count = whole(1);
/** A later check of the same setting may assume what one with `abort` has found. */
const abort = true;
const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be a URL that begins with http:// or https://", abort })
  .refine(hasReadableEscapes, {
    error: "must have a user, a password and a path whose escapes can be read",
    abort,
  });
/** URLs of one server, or of a cluster. */
const serverUrls = z
  .string()
  .transform((text) => text.split(",").map((url) => url.trim()))
  .refine(
    (urls) => urls.every((url) => httpUrl.safeParse(url).success),
    "must be an http or https URL, or several with commas",
  );
/** Trusted proxies for `X-Forwarded-For`: none, all, or these addresses and networks. */
const trustProxy = z
  .string()
  .refine(
    (text) => text === "true" || text === "false" || text.split(",").every(isAddressOrNetwork),
    "must be true, false, or addresses and networks, separated by commas",
  )
  .transform((text) => (text === "true" || text === "false" ? text === "true" : text));

/** Origins allowed by CORS. */
const corsOrigins = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .refine(
    (origins) => origins.every(isOrigin),
    "must be origins, like https://app.example.com, separated by commas",
  );

/** Paths without own routes that the gateway relays. */
const passedPaths = z
  .string()
  .transform((text) => (text === "none" ? [] : text.split(",").map((path) => path.trim())))
  .refine(
    (paths) => paths.every((path) => /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?\/[\w.~/-]*$/.test(path)),
    "must be none, or paths like /training or GET /models, separated by commas",
  );

/** Keys of Standard Webhooks, separated by spaces: `whsec_` and base64 of 24 to 64 bytes. */
const webhookSecrets = z
  .string()
  .transform((text) => text.split(/ +/))
  .refine(
    (secrets) => secrets.every((secret) => /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(secret)),
    "must be whsec_ and base64 of 24 to 64 bytes, or several with spaces",
  );

function hasReadableEscapes(text: string): boolean {
  const { username, password, pathname } = new URL(text);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isAddressOrNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const width = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return rest.length === 0 && width > 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= width));
}

const directory = z.string().regex(/^[^~\0][^\0]*$/, "must be a path; ~ means nothing here");

/** IP address or host name; digits and dots alone must be an address. */
const listenHost = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || (/^[\w-]+(\.[\w-]+)*$/.test(text) && !/^[\d.]+$/.test(text)),
    "must be an address of this machine, without a scheme or a port",
  );

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const onOrOff = z.stringbool({ error: "must be true or false" });
const upstreamKey = z.string().regex(/^[\x20-\x7e]*$/, "must be letters, digits and signs of ASCII");

/** All settings with defaults and units. An empty variable counts as unset. */
const schema = z.object({
  HOST: listenHost.default("127.0.0.1"),
  PORT: whole(0, 65_535).default(8080),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  DATA_DIR: directory.default("./data"),
  BACKUP_DIR: directory.optional(),
  CLICKHOUSE_URL: serverUrls.optional(),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]{1,64}$/, "must be a name of up to 64 letters, digits, dots and hyphens")
    .optional(),
  CLICKHOUSE_INSERT_QUORUM: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, "must be auto or a number of replicas")
    .default("auto"),
  TRUST_PROXY: trustProxy.default(false),
  CORS_ORIGINS: corsOrigins.default([]),
  ROOT_API_KEY: z
    .string()
    .min(32, { error: "must have at least 32 characters", abort })
    .max(512, { error: "must have at most 512 characters", abort })
    .regex(/^[\x21-\x7e]*$/, "must be letters, digits and signs, without spaces")
    .optional(),
  RATE_LIMIT_PER_MINUTE: count.default(120_000),
  KEY_MAX_CONCURRENT: count.default(256),
  MIN_FREE_DISK_BYTES: whole(0).optional(),
  DEFAULT_ENTITY: z
    .string()
    .regex(/^[^/\s]{1,128}$/, "must be a name of up to 128 characters, without slashes and spaces")
    .default("default"),
  BODY_LIMIT_BYTES: bytes.default(1024 * 1024),
  INGEST_BODY_LIMIT_BYTES: bytes.default(32 * 1024 * 1024),
  STORE_MAX_CONCURRENT: count.optional(),
  QUERY_TIMEOUT_SECONDS: statementSeconds.default(120),
  QUERY_MEMORY_BYTES: bytes.default(4 * 1024 ** 3),
  MAX_METRICS: whole(1, 1000).default(100),
  MAX_PERCENTILES: whole(1, 1000).default(50),
  SHUTDOWN_TIMEOUT_MS: positiveMs.default(30_000),
  PRICES_FILE: z.string().optional(),

  TRAINING_UPSTREAM_URL: httpUrl.optional(),
  TRAINING_UPSTREAM_API_KEY: upstreamKey.optional(),
  CHAT_UPSTREAM_URL: httpUrl.optional(),
  CHAT_UPSTREAM_API_KEY: upstreamKey.optional(),
  ANTHROPIC_UPSTREAM_URL: httpUrl.optional(),
  ANTHROPIC_UPSTREAM_API_KEY: upstreamKey.optional(),
  GEMINI_UPSTREAM_URL: httpUrl.optional(),
  GEMINI_UPSTREAM_API_KEY: upstreamKey.optional(),
  GATEWAY_ROUTES_FILE: z.string().optional(),
  GATEWAY_PASSTHROUGH_PATHS: passedPaths.default(["/preview", "/training", "GET /models"]),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: positiveMs.default(1_200_000),
  UPSTREAM_IDLE_TIMEOUT_MS: positiveMs.default(1_200_000),
  GATEWAY_CAPTURE_CONTENT: onOrOff.default(true),
  AGENT_CONTENT: onOrOff.default(false),
  BUDGET_REPLICAS: whole(1, 1000).default(1),

  ALERT_WEBHOOK_URL: httpUrl
    .refine(
      (text) => new URL(text).username + new URL(text).password === "",
      "must have no user and no password",
    )
    .optional(),
  ALERT_WEBHOOK_SECRET: webhookSecrets.default([]),
  ALERT_WEBHOOK_FORMAT: z.enum(["standard", "slack"], "must be standard or slack").default("standard"),
});

export type Config = Readonly<z.infer<typeof schema>> &
  FixedLimits & {
    /** Entries of `GATEWAY_ROUTES_FILE`. */
    readonly gatewayRoutes?: readonly RouteSettings[];
  };

export const settingNames: readonly string[] = Object.keys(schema.shape);

/** Configuration error listing all invalid settings. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/** Returns the backup directory of the embedded engine; `undefined` for a server. */
export function backupDirOf(config: Config): string | undefined {
  return config.CLICKHOUSE_URL === undefined
    ? resolve(config.BACKUP_DIR ?? join(config.DATA_DIR, "backups"))
    : undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Throws `ConfigError` with all problems, but without values, which may be secret. */
export function readConfig(
  environment: Environment = process.env,
  limits: FixedLimits = FIXED_LIMITS,
): Config {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  for (const name of settingNames) {
    const value = valueOf(name, environment, problems);
    if (value !== undefined) given[name] = value;
  }
  const result = schema.safeParse(given);
  problems.push(...(result.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  if (given["CLICKHOUSE_CLUSTER"] !== undefined && given["CLICKHOUSE_URL"] === undefined) {
    problems.push("CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL");
  }
  if (given["CLICKHOUSE_URL"] !== undefined && given["ROOT_API_KEY"] === undefined) {
    problems.push("ROOT_API_KEY: must be set when CLICKHOUSE_URL is set, so that all replicas share it");
  }
  const isSigned = given["ALERT_WEBHOOK_URL"] !== undefined && given["ALERT_WEBHOOK_FORMAT"] !== "slack";
  if (isSigned && given["ALERT_WEBHOOK_SECRET"] === undefined) {
    problems.push(
      "ALERT_WEBHOOK_SECRET: must be set when ALERT_WEBHOOK_URL is set, unless ALERT_WEBHOOK_FORMAT is slack",
    );
  }
  for (const upstream of ["TRAINING_UPSTREAM", "CHAT_UPSTREAM", "ANTHROPIC_UPSTREAM", "GEMINI_UPSTREAM"]) {
    const { username = "", password = "" } = URL.parse(given[`${upstream}_URL`] ?? "") ?? {};
    if (username + password !== "" && given[`${upstream}_API_KEY`] !== undefined) {
      problems.push(`${upstream}_API_KEY: must not be set beside a user and a password in ${upstream}_URL`);
    }
  }
  const routesFile = given["GATEWAY_ROUTES_FILE"];
  const { routes, problems: routeProblems } =
    routesFile === undefined
      ? { routes: undefined, problems: [] }
      : readRoutesFile(routesFile, environment, httpUrl);
  problems.push(...routeProblems.map((problem) => `GATEWAY_ROUTES_FILE: ${problem}`));
  if (!result.success || problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({
    ...limits,
    ...result.data,
    ...(routes === undefined ? {} : { gatewayRoutes: routes }),
  });
}

/** Reads the variable, or the first line of the file named by `<name>_FILE`. Blank counts as unset. */
function valueOf(name: string, environment: Environment, problems: string[]): string | undefined {
  const value = notBlank(environment[name]);
  const file = notBlank(environment[name + FROM_FILE]);
  if (file === undefined) return value;
  if (value !== undefined) {
    problems.push(`${name}: set it or ${name}${FROM_FILE}, not both`);
    return value;
  }
  try {
    const [line] = readFileSync(file, "utf8").split("\n");
    if (notBlank(line) === undefined) problems.push(`${name}${FROM_FILE}: the file's first line is empty`);
    return notBlank(line);
  } catch (error) {
    problems.push(`${name}${FROM_FILE}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

const FROM_FILE = "_FILE";

function notBlank(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}

/** Finds variables that look like misspelt settings. */
export function misspeltSettings(
  environment: Environment = process.env,
): readonly { readonly variable: string; readonly nearest: string }[] {
  const known = new Set(settingNames.flatMap((name) => [name, name + FROM_FILE]));
  return Object.keys(environment).flatMap((variable) => {
    const [nearest] = known.has(variable) ? [] : nearestNames(variable, settingNames);
    return nearest === undefined ? [] : [{ variable, nearest }];
  });
}
