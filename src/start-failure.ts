import { DamagedRootKeyError } from "./http/auth/root-key.ts";
import { MigrationError } from "./store/migration-error.ts";
import { StorageError } from "./store/storage-error.ts";
import { StoreOpenError } from "./store/store-open-error.ts";
import { ConfigError, type Config } from "./config.ts";
import { PricesFileError } from "./prices/list/load-price-list.ts";

/** Formats a start failure for the operator. Shows only hosts of URLs, never credentials. */
export function describeStartFailure(error: unknown, config: Config | undefined): string {
  if (error instanceof ConfigError) return error.message;
  const problem = knownProblem(error, config);
  return `Sumtree could not start: ${problem ?? (error instanceof Error ? error.stack : String(error))}`;
}

/** Returns the cause in words for an operator; `undefined` for unexpected errors. */
export function knownProblem(error: unknown, config: Config | undefined): string | undefined {
  if (
    error instanceof ConfigError ||
    error instanceof StoreOpenError ||
    error instanceof MigrationError ||
    error instanceof PricesFileError ||
    error instanceof DamagedRootKeyError
  ) {
    return error.message;
  }
  return error instanceof StorageError ? storeProblem(error, config) : listenProblem(error, config);
}

const AUTH_FAILED = "rejects the user and password of CLICKHOUSE_URL";
const NO_KEEPER =
  "responds, but ClickHouse Keeper does not: tables cannot be changed. Start ClickHouse Keeper";
const NO_QUORUM =
  "responds, but too few replicas accepted a write. Start them, or lower CLICKHOUSE_INSERT_QUORUM";
/** Explanations of ClickHouse error codes at start, after `ClickHouse at host`. */
const meanings: Readonly<Record<string, string>> = {
  // UNKNOWN_DATABASE; UNKNOWN_USER and other authentication errors
  81: "does not have the database named in CLICKHOUSE_URL",
  192: AUTH_FAILED,
  193: AUTH_FAILED,
  194: AUTH_FAILED,
  516: AUTH_FAILED,
  // ACCESS_DENIED
  497: "denies the user required privileges: see docs/operate/install.md and docs/cluster.md",
  // CLUSTER_DOESNT_EXIST; NO_ELEMENTS_IN_CONFIG
  701: "does not have the cluster named in CLICKHOUSE_CLUSTER: see its remote_servers",
  139: "lacks a setting that replicated tables need: see macros and zookeeper in docs/cluster.md",
  // TIMEOUT_EXCEEDED; NO_ZOOKEEPER, TABLE_IS_READ_ONLY, KEEPER_EXCEPTION
  159: "timed out on a statement. In a cluster: a replica is unavailable or busy. Start again when all are available",
  225: NO_KEEPER,
  242: NO_KEEPER,
  999: NO_KEEPER,
  // TOO_FEW_LIVE_REPLICAS, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, UNKNOWN_STATUS_OF_INSERT
  285: NO_QUORUM,
  286: NO_QUORUM,
  319: NO_QUORUM,
};

const FULL_DISK =
  "Free some space and start again: no data is lost, and an upgrade continues where it stopped.";

function storeProblem(error: StorageError, config: Config | undefined): string {
  const { kind, engineCode, message } = error;
  const urls = config?.CLICKHOUSE_URL;
  if (urls === undefined) {
    if (kind !== "no_space" || config === undefined) return message;
    return `the disk of DATA_DIR ${config.DATA_DIR} is full. ${FULL_DISK}`;
  }
  const hosts = urls.map((url) => new URL(url).host).join(", ");
  const meaning = engineCode === undefined ? undefined : meanings[engineCode];
  if (meaning !== undefined) return `ClickHouse at ${hosts} ${meaning} (code ${engineCode}).`;
  if (kind === "no_space") return `ClickHouse at ${hosts} has a full disk. ${FULL_DISK}`;
  if (kind !== "unavailable") return `ClickHouse at ${hosts}: ${message}`;
  return `ClickHouse at ${hosts} (CLICKHOUSE_URL) does not respond${engineCode === undefined ? "" : ` (${engineCode})`}.`;
}

function listenProblem(error: unknown, config: Config | undefined): string | undefined {
  if (config === undefined || !(error instanceof Error) || !("code" in error)) return undefined;
  const { HOST: host, PORT: port } = config;
  switch (error.code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use. Stop the process using it, or set PORT.`;
    case "EACCES":
      return `this user may not listen on port ${port}. Set PORT to one above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine. Set HOST.`;
    default:
      return undefined;
  }
}
