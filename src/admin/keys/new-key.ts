import type { Grant } from "../../http/auth/grant.ts";
import { earliest, type StoredKey } from "../../http/auth/key-store.ts";
import { AppError, invalid } from "../../shared/errors.ts";

/** Limits on the number and lifetime of keys. */
export interface KeyLimits {
  /** Maximum of valid keys that name the same project or pattern. */
  readonly maxPerProject: number;
  /** Maximum of valid keys that a key created, directly or through them. */
  readonly maxCreated: number;
  /** Maximum lifetime; undefined: none. */
  readonly maxLifetimeMs: number | undefined;
}

/** Maximum length of a chain of keys that created each other; each lookup reads all of it. */
const MAX_CREATORS = 8;

export interface RequestedKey {
  readonly projects: readonly string[];
  readonly expiresAtMs: number | null;
  readonly nowMs: number;
}

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

/** Returns the expiry of a new key. Errors: validation if it is in the past, or later than its creator or the limit allows. */
export function expiryOf(
  creator: Grant,
  { expiresAtMs, nowMs }: RequestedKey,
  limits: KeyLimits,
): number | null {
  const { maxLifetimeMs } = limits;
  const latestMs = earliest([
    creator.key.expiresAtMs,
    maxLifetimeMs === undefined ? null : nowMs + maxLifetimeMs,
  ]);
  if (expiresAtMs === null) return latestMs;
  if (expiresAtMs <= nowMs) throw wrongExpiry("Input should be in the future", "datetime_future");
  if (latestMs !== null && expiresAtMs > latestMs)
    throw wrongExpiry(`Input should be ${new Date(latestMs).toISOString()} at the latest`, "less_than_equal");
  return expiresAtMs;
}

/** Throws `validation` if a limit on the number of keys is reached. */
export function checkKeyLimits(
  creators: readonly string[],
  { projects, nowMs }: RequestedKey,
  { stored, limits }: { stored: readonly StoredKey[]; limits: KeyLimits },
): void {
  const valid = stored.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
  for (const pattern of projects) {
    if (valid.filter((key) => key.projects.includes(pattern)).length >= limits.maxPerProject)
      throw tooMany(`There may be ${limits.maxPerProject} keys for a project`);
  }
  for (const creator of creators) {
    if (valid.filter((key) => key.createdBy.includes(creator)).length >= limits.maxCreated)
      throw tooMany(`A key may have made ${limits.maxCreated} keys, with those that they made`);
  }
}

function tooMany(rule: string): AppError {
  const msg = `${rule}. Revoke those that are not used`;
  return invalid([{ loc: ["body", "projects"], msg, type: "too_many_keys" }]);
}

function wrongExpiry(msg: string, type: string): AppError {
  return invalid([{ loc: ["body", "expires_at"], msg, type }]);
}
