import { DamagedRootKeyError } from "./auth/root-key.ts";
import { MigrationError } from "./clickhouse/migrate.ts";
import { MIN_SERVER_VERSION } from "./clickhouse/server-version.ts";
import { StorageError } from "./clickhouse/storage-error.ts";
import { StoreOpenError } from "./clickhouse/store-open-error.ts";
import { ConfigError, type Config } from "./config.ts";
import { PricesFileError } from "./prices/load-price-list.ts";

/** A server of a version that this service can not work with. */
export class ServerTooOldError extends Error {
  constructor(version: string) {
    super(`ClickHouse is version ${version}; Sumtree needs ${MIN_SERVER_VERSION} or newer.`);
    this.name = "ServerTooOldError";
  }
}

/** What the operator reads when the service does not start. No credentials: a URL is shown by its host alone. */
export function describeStartFailure(error: unknown, config: Config | undefined): string {
  if (error instanceof ConfigError) return error.message;
  const problem = knownProblem(error, config);
  return `Sumtree could not start: ${problem ?? (error instanceof Error ? error.stack : String(error))}`;
}

/** What is in the way, for an operator; undefined for what nobody has foreseen. */
export function knownProblem(error: unknown, config: Config | undefined): string | undefined {
  if (
    error instanceof ConfigError ||
    error instanceof StoreOpenError ||
    error instanceof ServerTooOldError ||
    error instanceof MigrationError ||
    error instanceof PricesFileError ||
    error instanceof DamagedRootKeyError
  ) {
    return error.message;
  }
  return error instanceof StorageError ? storeProblem(error, config) : listenProblem(error, config);
}

/** By the engine's error codes: UNKNOWN_DATABASE; UNKNOWN_USER and what else ends in no entry. */
const UNKNOWN_DATABASE = "81";
const NO_ENTRY = new Set(["192", "193", "194", "516"]);

function storeProblem({ kind, engineCode, message }: StorageError, config: Config | undefined): string {
  const url = config?.CLICKHOUSE_URL;
  if (url === undefined) return message;
  const { host } = new URL(url);
  if (engineCode === UNKNOWN_DATABASE)
    return `ClickHouse at ${host} has no database of the name in CLICKHOUSE_URL.`;
  if (engineCode !== undefined && NO_ENTRY.has(engineCode)) {
    return `ClickHouse at ${host} does not take the user and password of CLICKHOUSE_URL.`;
  }
  if (kind !== "unavailable") return `ClickHouse at ${host}: ${message}`;
  return `no ClickHouse answers at ${host}, which CLICKHOUSE_URL names${engineCode === undefined ? "" : ` (${engineCode})`}.`;
}

function listenProblem(error: unknown, config: Config | undefined): string | undefined {
  if (config === undefined || !(error instanceof Error) || !("code" in error)) return undefined;
  const { HOST: host, PORT: port } = config;
  switch (error.code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use. Stop what uses it, or set PORT.`;
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
