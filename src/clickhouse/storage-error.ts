/** What went wrong in the store, told apart by the engine's error code, never by its text. */
export type StorageErrorKind = "unavailable" | "overloaded" | "timeout" | "memory" | "aborted" | "statement";

/** A failure of the store. The engine's own text, which can hold values, is kept out of logs: see `detail`. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;
  /** The engine's numeric error code, when it gave one. */
  readonly engineCode: string | undefined;
  /** The engine's own message. Not enumerable, so that no serialiser prints it. For tests and a debugger. */
  declare readonly detail: string;

  constructor(kind: StorageErrorKind, queryName: string, engineCode: string | undefined, detail: string) {
    super(`store: ${kind} in ${queryName}${engineCode === undefined ? "" : ` (code ${engineCode})`}`);
    this.name = "StorageError";
    this.kind = kind;
    this.engineCode = engineCode;
    Object.defineProperty(this, "detail", { value: detail, enumerable: false });
  }
}

/** Source: ClickHouse `src/Common/ErrorCodes.cpp`. */
const kindByEngineCode: ReadonlyMap<string, StorageErrorKind> = new Map([
  ["159", "timeout"], // TIMEOUT_EXCEEDED
  ["160", "timeout"], // TOO_SLOW
  ["209", "unavailable"], // SOCKET_TIMEOUT
  ["210", "unavailable"], // NETWORK_ERROR
  ["202", "overloaded"], // TOO_MANY_SIMULTANEOUS_QUERIES
  ["203", "overloaded"], // NO_FREE_CONNECTION
  ["252", "overloaded"], // TOO_MANY_PARTS
  ["241", "memory"], // MEMORY_LIMIT_EXCEEDED
  ["242", "unavailable"], // TABLE_IS_READ_ONLY
  ["243", "unavailable"], // NOT_ENOUGH_SPACE
  ["279", "unavailable"], // ALL_CONNECTION_TRIES_FAILED
  ["285", "unavailable"], // TOO_FEW_LIVE_REPLICAS
  ["319", "unavailable"], // UNKNOWN_STATUS_OF_INSERT
  ["516", "unavailable"], // AUTHENTICATION_FAILED
  ["999", "unavailable"], // KEEPER_EXCEPTION
]);

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

export function toStorageError(error: unknown, queryName: string): StorageError {
  if (error instanceof StorageError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === "AbortError") {
    return new StorageError("aborted", queryName, undefined, detail);
  }
  const code = errorCode(error);
  if (code !== undefined && /^\d+$/.test(code)) {
    return new StorageError(kindByEngineCode.get(code) ?? "statement", queryName, code, detail);
  }
  const reachable = code === undefined || !networkCodes.has(code);
  return new StorageError(reachable ? "statement" : "unavailable", queryName, code, detail);
}

function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
