import { expect, it, vi } from "vitest";
import { generateKey } from "../../../../src/http/auth/api-key.ts";
import { createKeyRing, KEYS_GRACE_MS, KEYS_MS, UNKNOWN_KEY_MS } from "../../../../src/http/auth/key-ring.ts";
import type { StoredKey } from "../../../../src/http/auth/key-store.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";

const ROOT = "st_root00000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

function newKey(): { text: string; key: StoredKey } {
  const { id, text, secretHash } = generateKey();
  const facts = { name: "k", scopes: ["read"], projects: ["*"], expiresAtMs: null } as const;
  return { text, key: { id, secretHash, ...facts, createdBy: [], createdAtMs: 0 } };
}

/** A ring over stored keys, which it reads as new objects each time. */
function ringOver(...stored: StoredKey[]) {
  const state = { nowMs: 1_000_000, away: false, isReadOnly: false, readings: 0, stored };
  const fail = () => new StorageError("unavailable", "api_key", undefined, "");
  const ring = createKeyRing(
    {
      async list() {
        state.readings++;
        const listed = state.stored.map((key) => ({ ...key }));
        await Promise.resolve();
        if (state.away) throw fail();
        return listed;
      },
      async add(key) {
        state.stored.push(key as StoredKey);
      },
      async revoke({ id }) {
        if (state.isReadOnly) throw fail();
        state.stored = state.stored.filter((key) => key.id !== id);
      },
    },
    ROOT,
    { clock: { now: () => 0 }, steady: { now: () => state.nowMs } },
  );
  return { state, ring };
}

it("accepts the root key without the store", async () => {
  const { ring, state } = ringOver();
  expect((await ring.verify(ROOT))?.id).toBe("root");
  expect(await ring.verify("not a key of ours")).toBeUndefined();
  expect(state.readings).toBe(0);
});

it("reads the list every ten seconds, once for all who wait, and keeps the records of unchanged keys", async () => {
  const { text, key } = newKey();
  const { ring, state } = ringOver(key);
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => ring.verify(text)));
  expect([first?.id, state.readings]).toEqual([key.id, 1]);
  state.nowMs += KEYS_MS - 1;
  others.push(await ring.verify(text));
  expect(state.readings).toBe(1);
  state.nowMs += 1;
  others.push(await ring.verify(text));
  expect(state.readings).toBe(2);
  for (const other of others) expect(other).toBe(first);
  state.stored = [];
  state.nowMs += KEYS_MS;
  expect(await ring.verify(text)).toBeUndefined();
});

it("reads the list ten times a second for unknown keys, which wait for it, and never for a wrong secret", async () => {
  const [{ text, key }, added] = [newKey(), newKey()];
  const { ring, state } = ringOver(key);
  await ring.verify(text);
  vi.useFakeTimers();
  try {
    state.nowMs += 1;
    const unknown = Array.from({ length: 50 }, () => ring.verify(newKey().text));
    const created = ring.verify(added.text);
    // another process has stored it
    state.stored.push(added.key);
    state.nowMs += UNKNOWN_KEY_MS;
    await vi.advanceTimersByTimeAsync(UNKNOWN_KEY_MS);
    expect((await created)?.id).toBe(added.key.id);
    expect(await Promise.all(unknown)).toEqual(unknown.map(() => undefined));
    const forged = `${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`;
    expect(await ring.verify(forged)).toBeUndefined();
    expect(state.readings).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it("knows a key that it adds at once, also if a reading that lacks it ends later", async () => {
  const { text, key } = newKey();
  const { ring } = ringOver();
  const reading = ring.list();
  await Promise.all([ring.add(key), reading]);
  expect((await ring.verify(text))?.id).toBe(key.id);
});

it("refuses a key that it revokes, and those that it created, even if the store cannot be written", async () => {
  const [{ text, key }, child] = [newKey(), newKey()];
  const { ring, state } = ringOver(key, { ...child.key, createdBy: [key.id] });
  await ring.verify(text);
  state.isReadOnly = true;
  await expect(ring.revoke(key)).rejects.toMatchObject({ kind: "unavailable" });
  state.nowMs += KEYS_MS;
  for (const one of [text, child.text]) expect(await ring.verify(one)).toBeUndefined();
  // so that it can be revoked again
  expect((await ring.list()).map(({ id }) => id)).toContain(key.id);
});

it("accepts known keys for five minutes while the store is away, and rejects no unknown one for good", async () => {
  const { text, key } = newKey();
  const { ring, state } = ringOver(key);
  await ring.verify(text);
  state.away = true;
  state.nowMs += KEYS_GRACE_MS - 1;
  expect((await ring.verify(text))?.id).toBe(key.id);
  await expect(ring.verify(newKey().text)).rejects.toMatchObject({ kind: "unavailable" });
  state.nowMs += 1;
  await expect(ring.verify(text)).rejects.toMatchObject({ kind: "unavailable" });
});
