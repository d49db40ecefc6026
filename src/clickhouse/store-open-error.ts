import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The embedded store can not be opened. The message is for the operator. */
export class StoreOpenError extends Error {
  readonly reason: "locked" | "other";

  constructor(reason: StoreOpenError["reason"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreOpenError";
    this.reason = reason;
  }
}

/** Why `path` could not be opened: the engine says so on stderr only, so its lock file is asked. */
export function toStoreOpenError(error: unknown, path: string): StoreOpenError {
  const owner = ownerOf(path);
  return owner === undefined
    ? new StoreOpenError("other", `DATA_DIR ${path} can not be opened: ${String(error)}`, error)
    : new StoreOpenError(
        "locked",
        `DATA_DIR ${path} is in use by process ${owner}. Stop it, or set another.`,
        error,
      );
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
