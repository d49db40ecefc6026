import { StorageError } from "../../store/storage-error.ts";

/** True if ClickHouse rejects the data itself: a retry cannot succeed. False if it is unreachable, full or busy. */
export function isPermanentError(error: unknown): boolean {
  return !(error instanceof StorageError) || error.kind === "statement";
}
