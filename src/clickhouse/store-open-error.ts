import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The embedded store can not be opened. The message is for the operator. */
export class StoreOpenError extends Error {
  readonly reason: "locked" | "missing" | "other";

  constructor(reason: StoreOpenError["reason"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreOpenError";
    this.reason = reason;
  }
}

/** Why `path` could not be opened: the engine says so on stderr only, so its lock file is asked. */
export function toStoreOpenError(error: unknown, path: string): StoreOpenError {
  if (isMissing(error)) {
    const text = "The embedded engine is not installed here or does not run here. Set CLICKHOUSE_URL.";
    return new StoreOpenError("missing", text, error);
  }
  const owner = ownerOf(path);
  return owner === undefined
    ? new StoreOpenError("other", `DATA_DIR ${path} can not be opened: ${String(error)}`, error)
    : new StoreOpenError(
        "locked",
        `DATA_DIR ${path} is in use by process ${owner}. Stop it, or set another.`,
        error,
      );
}

/** The package, or its build for this platform, is not there. */
function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || code === "CHDB_PLATFORM";
}

/** The live process that the engine's lock file names. */
function ownerOf(path: string): number | undefined {
  try {
    const owner = Number(/^PID: (\d+)$/m.exec(readFileSync(join(path, "status"), "utf8"))?.[1]);
    process.kill(owner, 0);
    return owner;
  } catch {
    return undefined;
  }
}
