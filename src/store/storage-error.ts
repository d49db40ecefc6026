/** Error class, derived from ClickHouse's error code, never from its text. */
export type StorageErrorKind =
  | "unavailable"
  | "read_only"
  | "no_space"
  | "overloaded"
  | "timeout"
  | "memory"
  | "aborted"
  | "statement";

/** Storage failure. ClickHouse's message can contain values, so it is only in `detail`. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;
  /** ClickHouse's numeric error code, or the driver's code, if any. */
  readonly engineCode: string | undefined;
  /** ClickHouse's message. Not enumerable, so that no serialiser prints it. For tests and debuggers. */
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
const codesByKind: Partial<Record<StorageErrorKind, readonly number[]>> = {
  // TIMEOUT_EXCEEDED, TOO_SLOW
  timeout: [159, 160],
  // MEMORY_LIMIT_EXCEEDED; TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES
  memory: [241, 158, 307, 396],
  // QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, TOO_MANY_PARTS, QUERY_WAS_CANCELLED,
  // CANNOT_SCHEDULE_TASK, QUERY_WAS_CANCELLED_BY_CLIENT, SERVER_OVERLOADED
  overloaded: [201, 202, 203, 252, 394, 439, 735, 745],
  // NOT_ENOUGH_SPACE
  no_space: [243],
  unavailable: [
    // UNKNOWN_DATABASE, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, ACCESS_DENIED, AUTHENTICATION_FAILED
    81, 192, 193, 194, 497, 516,
    // SOCKET_TIMEOUT, NETWORK_ERROR, ABORTED, ALL_CONNECTION_TRIES_FAILED, CANNOT_WRITE_TO_FILE_DESCRIPTOR, CANNOT_OPEN_FILE,
    // ALL_REPLICAS_ARE_STALE: no replica of a shard responds, or none has its rows
    209,
    210, 236, 279, 75, 76, 369,
  ],
  read_only: [
    // NO_ZOOKEEPER, TABLE_IS_READ_ONLY, TOO_FEW_LIVE_REPLICAS, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE,
    // REPLICA_IS_NOT_IN_QUORUM, UNKNOWN_STATUS_OF_INSERT, KEEPER_EXCEPTION
    225, 242, 285, 286, 289, 319, 999,
  ],
};

const kindByCode = new Map(
  Object.entries(codesByKind).flatMap(([kind, codes]) =>
    codes.map((code) => [String(code), kind as StorageErrorKind] as const),
  ),
);

/** Classifies a driver's error. Errors without a ClickHouse code mean that the engine is unreachable. */
export function toStorageError(error: unknown, queryName: string): StorageError {
  if (error instanceof StorageError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  const code = engineCode(error);
  if (code !== undefined)
    return new StorageError(kindByCode.get(code) ?? "statement", queryName, code, detail);
  return new StorageError(
    isDriverMisuse(error) ? "statement" : "unavailable",
    queryName,
    driverCode(error),
    detail,
  );
}

/** True if this service called the driver incorrectly. */
function isDriverMisuse(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  return ["CHDB_INSERT", "CHDB_BIND", "CHDB_QUERY"].includes(driverCode(error) ?? "");
}

/** Reads `code` of the server's client, `clickhouseCode` of the embedded engine. */
function engineCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("clickhouseCode" in error && typeof error.clickhouseCode === "number")
    return String(error.clickhouseCode);
  const code = driverCode(error);
  return code !== undefined && /^\d+$/.test(code) ? code : undefined;
}

/** Reads a code like `ECONNREFUSED`. */
function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
