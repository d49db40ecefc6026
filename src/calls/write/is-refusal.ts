import { StorageError } from "../../store/storage-error.ts";

/** True if ClickHouse rejects the data itself, so a retry cannot succeed; false if it is unreachable, full or busy. */
export function isRefusal(error: unknown): boolean {
  return !(error instanceof StorageError) || error.kind === "statement";
}
