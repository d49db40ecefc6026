import { describe, expect, it } from "vitest";
import { generateKey } from "../../../../src/http/auth/api-key.ts";
import { createKeyRing, KEY_CACHE_MS, KEY_GRACE_MS } from "../../../../src/http/auth/key-ring.ts";
import type { KeyStore, StoredKey } from "../../../../src/http/auth/key-store.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";

const ROOT = "st_root00000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const open = { lookUpUnknown: async () => true };
const shut = { lookUpUnknown: async () => false };

function ringOver(keys: Map<string, StoredKey>) {
  const state = { nowMs: 1_000_000, timeOfDayMs: Date.parse("2026-01-01"), away: false, lookUps: 0 };
  const clocks = { clock: { now: () => state.timeOfDayMs }, steady: { now: () => state.nowMs } };
  const store: KeyStore = {
    async find(id) {
      state.lookUps++;
      if (state.away) throw new StorageError("unavailable", "api_key_find", undefined, "");
      return keys.get(id);
    },
    ids: async () => new Set<string>(),
    list: async () => [...keys.values()],
    add: async () => undefined,
    revoke: async () => undefined,
  };
  return { state, ring: createKeyRing(store, ROOT, clocks) };
}

function newKey(): { text: string; key: StoredKey } {
  const { id, text, secretHash } = generateKey();
  const key: StoredKey = {
    id,
    secretHash,
    name: "k",
    scopes: ["read"],
    projects: ["*"],
    expiresAtMs: null,
    createdBy: [],
    createdAtMs: 0,
  };
  return { text, key };
}

describe("the key ring", () => {
  it("accepts the root key without the store", async () => {
    const { ring, state } = ringOver(new Map());
    state.away = true;
    expect((await ring.verify(ROOT, open))?.id).toBe("root");
    expect(await ring.verify("not a key of ours", open)).toBeUndefined();
    expect(state.lookUps).toBe(0);
  });

  it("reads a key at most every ten seconds, and then notices its revocation", async () => {
    const { text, key } = newKey();
    const keys = new Map([[key.id, key]]);
    const { ring, state } = ringOver(keys);
    for (let n = 0; n < 5; n++) expect((await ring.verify(text, open))?.id).toBe(key.id);
    expect(state.lookUps).toBe(1);
    keys.delete(key.id);
    state.nowMs += KEY_CACHE_MS;
    expect(await ring.verify(text, open)).toBeUndefined();
  });

  it("rejects another secret of a known id without another read", async () => {
    const { text, key } = newKey();
    const { ring, state } = ringOver(new Map([[key.id, key]]));
    await ring.verify(text, open);
    const forged = `${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`;
    expect(await ring.verify(forged, open)).toBeUndefined();
    expect(state.lookUps).toBe(1);
  });

  it("does not read unknown keys if told not to", async () => {
    const { text, key } = newKey();
    const { ring, state } = ringOver(new Map([[key.id, key]]));
    expect(await ring.verify(text, shut)).toBeUndefined();
    expect(state.lookUps).toBe(0);
    await ring.verify(text, open);
    state.nowMs += KEY_CACHE_MS;
    expect((await ring.verify(text, shut))?.id).toBe(key.id);
  });

  it("accepts a known key for some time while the store is unavailable, and no unknown key", async () => {
    const { text, key } = newKey();
    const { ring, state } = ringOver(new Map([[key.id, key]]));
    await ring.verify(text, open);
    state.away = true;
    state.nowMs += KEY_GRACE_MS - 1;
    expect((await ring.verify(text, open))?.id).toBe(key.id);
    await expect(ring.verify(newKey().text, open)).rejects.toMatchObject({ kind: "unavailable" });
    state.nowMs += 1;
    await expect(ring.verify(text, open)).rejects.toMatchObject({ kind: "unavailable" });
  });
});
