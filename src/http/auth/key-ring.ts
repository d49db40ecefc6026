import { LRUCache } from "lru-cache";
import { StorageError } from "../../store/storage-error.ts";
import type { Clock } from "../../shared/clock.ts";
import { hashKey, keyIdOf, matches, ROOT_ID, type ApiKey } from "./api-key.ts";
import type { KeyStore } from "./key-store.ts";

/** Cache time of a key's record; a revoked key stops working everywhere within this time. */
export const KEY_CACHE_MS = 10_000;
/** How long a cached key works while the store is unreachable. */
export const KEY_GRACE_MS = 300_000;

/** Cache time of the ids of all valid keys. */
const KEY_IDS_MS = 1000;

export interface VerifyOptions {
  /**
   * Admits the lookup of a key that is not cached. If it returns false, the key is looked up only if its id is among those of all
   * valid keys, which are read at most once a second.
   */
  lookUpUnknown(): Promise<boolean>;
}

export interface KeyRing {
  /** Finds the valid, unexpired key of a presented text; undefined if there is none. */
  verify(text: string, options: VerifyOptions): Promise<ApiKey | undefined>;
  /** Removes a key and those that it created from the cache, so that a change takes effect in this process at once. */
  forget(id: string): void;
  /** Revokes a key and those that it created in this process, whatever the store has. */
  revoke(id: string): void;
}

interface Cached {
  readonly key: ApiKey | undefined;
  readonly readAtMs: number;
}

export interface Clocks {
  /** Wall clock for expiry. */
  readonly clock: Clock;
  /** Monotonic clock for cache times. */
  readonly steady: Clock;
}

/** Creates a cached lookup of keys: the root key and those in the store. */
export function createKeyRing(store: KeyStore, rootKey: string, { clock, steady }: Clocks): KeyRing {
  const root: ApiKey = {
    id: ROOT_ID,
    name: ROOT_ID,
    secretHash: hashKey(rootKey),
    scopes: ["admin"],
    projects: ["*"],
    expiresAtMs: null,
    createdBy: [],
  };
  const cache = new LRUCache<string, Cached>({ max: 10_000 });
  const revoked = new Set<string>();

  const read = async (id: string, known: Cached | undefined): Promise<ApiKey | undefined> => {
    const nowMs = steady.now();
    try {
      const key = await store.find(id);
      cache.set(id, { key, readAtMs: nowMs });
      return key;
    } catch (error) {
      const away = error instanceof StorageError && error.kind !== "statement";
      if (away && known?.key !== undefined && nowMs - known.readAtMs < KEY_GRACE_MS) return known.key;
      throw error;
    }
  };
  let listed: { readonly ids: Promise<ReadonlySet<string>>; readonly requestedAtMs: number } | undefined;
  const isListed = async (id: string): Promise<boolean> => {
    const nowMs = steady.now();
    if (listed === undefined || nowMs - listed.requestedAtMs >= KEY_IDS_MS) {
      listed = { ids: store.ids(), requestedAtMs: nowMs };
    }
    return (await listed.ids).has(id);
  };
  const find = async (id: string, options: VerifyOptions): Promise<ApiKey | undefined> => {
    const known = cache.get(id);
    if (known !== undefined && steady.now() - known.readAtMs < KEY_CACHE_MS) return known.key;
    if (known?.key === undefined && !(await options.lookUpUnknown()) && !(await isListed(id)))
      return undefined;
    return read(id, known);
  };

  return {
    async verify(text, options) {
      const presented = hashKey(text);
      if (matches(presented, root.secretHash)) return root;
      const id = keyIdOf(text);
      if (id === undefined) return undefined;
      const key = await find(id, options);
      if (key === undefined || !matches(presented, key.secretHash)) return undefined;
      if (revoked.size > 0 && [id, ...key.createdBy].some((one) => revoked.has(one))) return undefined;
      return key.expiresAtMs === null || key.expiresAtMs > clock.now() ? key : undefined;
    },
    forget(id) {
      cache.delete(id);
      for (const [other, { key }] of cache.entries())
        if (key?.createdBy.includes(id) === true) cache.delete(other);
      listed = undefined;
    },
    revoke: (id) => void revoked.add(id),
  };
}
