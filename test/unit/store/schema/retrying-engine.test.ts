import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../../../src/store/engine.ts";
import { retryingEngine } from "../../../../src/store/schema/retrying-engine.ts";
import { startProgress } from "../../../../src/store/schema/progress.ts";
import { StorageError, type StorageErrorKind } from "../../../../src/store/storage-error.ts";
import { trusted } from "../../../../src/query/sql.ts";

const away = "ClickHouse Keeper does not respond";
const statement = trusted("CREATE TABLE t");
const options = { name: "test" };

/** Rejects writes and `requireCurrent` reads so many times. */
function startingEngine(refusals: number, kind: StorageErrorKind = "read_only", code?: string) {
  let tries = 0;
  const response = async (): Promise<void> => {
    if (++tries <= refusals) throw new StorageError(kind, "test", code, away);
  };
  const port: Partial<Engine> = {
    command: response,
    insert: response,
    rows: () => response().then(() => []),
    health: async () => ({ reads: undefined, writes: tries <= refusals ? away : undefined }),
  };
  return { engine: port as Engine, tries: () => tries };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
});
afterEach(() => vi.useRealTimers());

describe("writes to starting servers", () => {
  it.each([
    ["a refusal by what is known of the servers", "read_only", undefined],
    ["a table without its keeper's session", "read_only", "242"],
    ["replicas that have not joined yet", "read_only", "285"],
    ["servers that do not answer yet", "unavailable", undefined],
  ] as const)("wait for %s, and say so once", async (_, kind, code) => {
    const { engine, tries } = startingEngine(10, kind, code);
    const said: string[] = [];
    const done = retryingEngine(
      engine,
      startProgress((problem) => said.push(problem)),
    ).command(statement, options);
    await vi.advanceTimersByTimeAsync(3000);
    await done;
    expect(tries()).toBe(11);
    expect(said).toEqual([away]);
  });

  it("fail with the reason after 30 s", async () => {
    const { engine } = startingEngine(Infinity);
    const rejected = expect(
      retryingEngine(engine, startProgress()).insert("t", [], options),
    ).rejects.toMatchObject({
      detail: away,
    });
    await vi.advanceTimersByTimeAsync(31_000);
    await rejected;
  });

  it.each([
    ["statement", "62"],
    ["unavailable", "516"],
    ["read_only", "999"],
  ] as const)("do not wait for what waiting does not mend: %s, code %s", async (kind, code) => {
    const { engine, tries } = startingEngine(1, kind, code);
    await expect(retryingEngine(engine, startProgress()).command(statement, options)).rejects.toMatchObject({
      engineCode: code,
    });
    expect(tries()).toBe(1);
  });
});

describe("reads from starting servers", () => {
  it("wait only with requireCurrent", async () => {
    const { engine } = startingEngine(1);
    await expect(retryingEngine(engine, startProgress()).rows(statement, options)).rejects.toMatchObject({
      detail: away,
    });
    const current = retryingEngine(startingEngine(5).engine, startProgress()).rows(statement, {
      ...options,
      requireCurrent: true,
    });
    await vi.advanceTimersByTimeAsync(3000);
    expect(await current).toEqual([]);
  });
});

describe("startProgress", () => {
  it("reports waits at once and every ten seconds, and steps that take as long", () => {
    const said: string[] = [];
    const progress = startProgress((text) => said.push(text));
    progress.begins("asking");
    vi.advanceTimersByTime(9_999);
    expect(said).toEqual([]);
    progress.waits("keeper");
    progress.waits("keeper");
    vi.advanceTimersByTime(20_000);
    expect(said).toEqual(["keeper", "keeper", "keeper"]);
    progress.begins("applying");
    vi.advanceTimersByTime(10_000);
    progress.end();
    vi.advanceTimersByTime(60_000);
    expect(said.slice(3)).toEqual(["applying"]);
  });
});
