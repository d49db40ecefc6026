import { describe, expect, it } from "vitest";
import type { Engine } from "../../../src/store/engine.ts";
import { guardMigrations } from "../../../src/store/migration-guard.ts";
import { StorageError } from "../../../src/store/storage-error.ts";
import { readMigrations } from "../../../src/store/schema/migrations.ts";

const OWN = readMigrations().map(({ name }) => name);
const MINUTE_MS = 60_000;

/** Store whose migrations change, and whose reads can block or fail. */
function guarded() {
  const state = { nowMs: 0, applied: OWN, reads: 0, before: async (): Promise<void> => undefined };
  const written: string[] = [];
  const newer: (readonly string[])[] = [];
  const engine: Partial<Engine> = {
    rows: async <Row>(_query: unknown, { name }: { name: string }) => {
      if (name === "migrate_exists") return [{ n: 1 }] as Row[];
      state.reads++;
      const { applied } = state;
      await state.before();
      return applied.map((one) => ({ name: one, checksum: "" })) as Row[];
    },
    insert: async (table) => void written.push(table),
    command: async () => void written.push("command"),
  };
  const guard = guardMigrations(engine as Engine, {
    clock: { now: () => state.nowMs },
    onNewer: (unknown) => newer.push(unknown),
  });
  const insert = () => guard.engine.insert("calls", [{}], { name: "test" });
  return { state, written, newer, guard, insert };
}

describe("guardMigrations", () => {
  it("compares before the first write, and before a write after two minutes", async () => {
    const { state, written, insert } = guarded();
    await insert();
    state.nowMs = 2 * MINUTE_MS;
    await insert();
    expect(state.reads).toBe(1);
    state.nowMs++;
    await Promise.all([insert(), insert(), insert()]);
    expect(state.reads).toBe(3);
    // set back
    state.nowMs = -MINUTE_MS;
    await insert();
    expect(state.reads).toBe(4);
    expect(written).toHaveLength(6);
  });

  it("ignores a comparison that was running during the suspension", async () => {
    const { state, written, insert, guard } = guarded();
    await insert();
    const { promise, resolve } = Promise.withResolvers<void>();
    state.before = () => promise;
    const underWay = guard.compare();
    await expect.poll(() => state.reads).toBe(2);
    state.applied = [...OWN, "0001_newer.sql"];
    state.nowMs = 3 * MINUTE_MS;
    const late = expect(insert()).rejects.toMatchObject({ kind: "outdated" });
    resolve();
    expect((await underWay).unknown).toEqual([]);
    await late;
    expect(written).toHaveLength(1);
  });

  it("rejects writes while it cannot compare, and once the store is newer", async () => {
    const { state, written, newer, insert, guard } = guarded();
    state.before = () => Promise.reject(new StorageError("unavailable", "test", undefined, ""));
    await expect(insert()).rejects.toMatchObject({ kind: "unavailable" });
    state.before = async () => undefined;
    state.applied = [...OWN, "0001_newer.sql"];
    await guard.compare();
    await expect(insert()).rejects.toMatchObject({ kind: "outdated" });
    await expect(guard.engine.command({} as never, { name: "test" })).rejects.toMatchObject({
      kind: "outdated",
    });
    await guard.compare();
    expect(newer).toEqual([["0001_newer.sql"]]);
    expect(written).toEqual([]);
  });
});
