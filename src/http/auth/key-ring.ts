import { StorageError } from "../../store/storage-error.ts";
import type { Clock } from "../../shared/clock.ts";
import { hashKey, keyIdOf, matches, ROOT_ID, type ApiKey } from "./api-key.ts";
import type { KeyStore, StoredKey } from "./key-store.ts";

/** Maximum age of the list of keys; a key that another process revoked stops working within this time. */
export const KEYS_MS = 10_000;
/** Time between two readings for keys that the list lacks, which wait for the next: together they cost ten a second. */
export const UNKNOWN_KEY_MS = 100;
/** How long the last list works while the store is unreachable. */
export const KEYS_GRACE_MS = 300_000;

/** All valid keys in memory. */
export interface KeyRing {
  /** Finds the valid, unexpired key of a presented text; undefined if there is none. Errors: `StorageError`. */
  verify(text: string): Promise<ApiKey | undefined>;
  /** Reads all valid keys; while the store is unreachable, the last list. */
  list(): Promise<readonly StoredKey[]>;
  /** Stores a key, which is valid in this process at once. */
  add(key: StoredKey): Promise<void>;
  /** Revokes a key and those that it created: in this process at once, even if the store cannot be written. */
  revoke(key: StoredKey): Promise<void>;
}

export interface Clocks {
  /** Wall clock for expiry. */
  readonly clock: Clock;
  /** Monotonic clock for the age of the list. */
  readonly steady: Clock;
}

/** Creates the ring of the root key and the keys in the store. */
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
  let keys = new Map<string, StoredKey>();
  let readAtMs = -Infinity;
  let reading: Promise<Error | undefined> | undefined;
  const revoked = new Set<string>();

  const read = async (): Promise<Error | undefined> => {
    const beganAtMs = steady.now();
    try {
      const listed = await store.list();
      // a valid key never changes: grants are remembered by its record
      keys = new Map(listed.map((key) => [key.id, keys.get(key.id) ?? key]));
      readAtMs = beganAtMs;
      return undefined;
    } catch (error) {
      return error as Error;
    } finally {
      reading = undefined;
    }
  };
  /** Reads the list, one reading at a time. Errors: those of the store, unless the last list may be used. */
  const refresh = async (mayUseLast: boolean): Promise<void> => {
    const failure = await (reading ??= read());
    if (failure === undefined) return;
    const isAway = failure instanceof StorageError && failure.kind !== "statement";
    if (!isAway || !mayUseLast || steady.now() - readAtMs >= KEYS_GRACE_MS) throw failure;
  };

  /** Waits for a reading that has begun now or later: another process may have just created the key. */
  const readNext = async (): Promise<void> => {
    const arrivedAtMs = steady.now();
    const waitMs = readAtMs + UNKNOWN_KEY_MS - arrivedAtMs;
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    // one that is under way may have begun before
    await reading;
    if (readAtMs < arrivedAtMs) await refresh(false);
  };

  return {
    async verify(text) {
      const presented = hashKey(text);
      if (matches(presented, root.secretHash)) return root;
      const id = keyIdOf(text);
      if (id === undefined) return undefined;
      if (!keys.has(id)) await readNext();
      else if (steady.now() - readAtMs >= KEYS_MS) await refresh(true);
      const key = keys.get(id);
      if (key === undefined || !matches(presented, key.secretHash)) return undefined;
      if (revoked.size > 0 && [id, ...key.createdBy].some((one) => revoked.has(one))) return undefined;
      return key.expiresAtMs === null || key.expiresAtMs > clock.now() ? key : undefined;
    },
    async list() {
      await reading;
      await refresh(true);
      return [...keys.values()];
    },
    async add(key) {
      await store.add(key);
      // one that began before lacks the key
      await reading;
      keys.set(key.id, key);
    },
    async revoke(key) {
      revoked.add(key.id);
      await store.revoke(key);
    },
  };
}
