import { StorageError } from "../../store/storage-error.ts";

/** Whether the store itself refuses what was written, so that it is no use to wait: it is not away, full or busy. */
export function isRefusal(error: unknown): boolean {
  return !(error instanceof StorageError) || error.kind === "statement";
}
