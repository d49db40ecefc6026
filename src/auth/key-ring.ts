import { LRUCache } from "lru-cache";
import type { Clock } from "../shared/clock.ts";
import { hashKey, keyIdOf, matches, type ApiKey } from "./api-key.ts";
import type { KeyStore } from "./key-store.ts";

/** How long a key's record is trusted before it is read again: a revoked key stops working everywhere within this. */
export const KEY_CACHE_MS = 10_000;

export interface KeyRing {
  /** The valid, unexpired key behind a presented text; undefined otherwise. */
  verify(text: string): Promise<ApiKey | undefined>;
  /** Forgets what is cached of a key, so that a change made here is seen here at once. */
  forget(id: string): void;
}

/** Checks presented keys against the root key and the store. */
export function createKeyRing(store: KeyStore, rootKey: string, clock: Clock): KeyRing {
  const root: ApiKey = {
    id: "root",
    name: "root",
    secretHash: hashKey(rootKey),
    scopes: ["admin"],
    projects: ["*"],
    expiresAtMs: null,
  };
  const cache = new LRUCache<string, { key: ApiKey | undefined }>({ max: 10_000, ttl: KEY_CACHE_MS });

  const find = async (id: string): Promise<ApiKey | undefined> => {
    const cached = cache.get(id);
    if (cached !== undefined) return cached.key;
    const key = await store.find(id);
    cache.set(id, { key });
    return key;
  };

  return {
    async verify(text) {
      if (matches(text, root.secretHash)) return root;
      const id = keyIdOf(text);
      if (id === undefined) return undefined;
      const key = await find(id);
      if (key === undefined || !matches(text, key.secretHash)) return undefined;
      return key.expiresAtMs === null || key.expiresAtMs > clock.now() ? key : undefined;
    },
    forget: (id) => cache.delete(id),
  };
}
