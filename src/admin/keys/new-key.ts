import type { Grant } from "../../http/auth/grant.ts";
import { AppError, invalid } from "../../shared/errors.ts";

/** Maximum length of a chain of keys that created each other. */
const MAX_CREATORS = 8;

/** Returns the creators of a new key. Errors: forbidden. */
export function creatorsOf(creator: Grant, projects: readonly string[]): readonly string[] {
  if (projects.some((pattern) => !creator.covers(pattern)))
    throw new AppError("forbidden", "This key may not use one of those projects.");
  if (creator.isRoot) return [];
  if (creator.key.createdBy.length === MAX_CREATORS) {
    throw new AppError(
      "forbidden",
      `API keys nest at most ${MAX_CREATORS} levels; this key cannot create another.`,
    );
  }
  return [...creator.key.createdBy, creator.keyId];
}

/** Returns the expiry of a new key. Errors: validation if it is in the past, or later than its creator's. */
export function expiryOf(creator: Grant, expiresAtMs: number | null, nowMs: number): number | null {
  const latestMs = creator.key.expiresAtMs;
  if (expiresAtMs === null) return latestMs;
  if (expiresAtMs <= nowMs) throw wrongExpiry("Input should be in the future", "datetime_future");
  if (latestMs !== null && expiresAtMs > latestMs)
    throw wrongExpiry(`Input should be ${new Date(latestMs).toISOString()} at the latest`, "less_than_equal");
  return expiresAtMs;
}

function wrongExpiry(msg: string, type: string): AppError {
  return invalid([{ loc: ["body", "expires_at"], msg, type }]);
}
