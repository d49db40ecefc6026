import fc from "fast-check";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { hasExternalStore } from "../helpers/external-store.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";

const RUNS = runs(5, 60);
const T0 = Date.parse("2026-11-22T01:24:28.900Z");

let store: TestEngine;
let test: Omit<TestApp, "engine">;
let dir: string;
let nowMs = T0;
/** Fault of the next copy. */
let fault: ((path: string) => never) | undefined;
/** Backups before the test. */
let before: ReadonlySet<string> = new Set();
beforeAll(async () => {
  store = await startEngine();
  dir = join(store.dir, "backups");
  test = await startAppOn(store.engine, {
    settings: { DATA_DIR: store.dir },
    deps: { clock: { now: () => nowMs } },
    wrapEngine: (engine): Engine => ({
      ...engine,
      async command(statement, options) {
        if (options.name !== "backup" || fault === undefined) return engine.command(statement, options);
        const started = readdirSync(dir).find((name) => !before.has(name));
        const fail = fault;
        fault = undefined;
        return fail(started === undefined ? dir : join(dir, started));
      },
    }),
  });
});
afterAll(async () => {
  await test.close();
  await store.close();
});
afterEach(() => {
  nowMs = T0;
  rmSync(dir, { recursive: true, force: true });
});

const back = () => test.post("/backups", undefined);

/** Everything below a path, in one text. */
function contentOf(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return "link";
  if (!stats.isDirectory()) return createHash("sha256").update(readFileSync(path)).digest("hex");
  return readdirSync(path)
    .toSorted()
    .map((name) => `${name}: ${contentOf(join(path, name))}`)
    .join("\n");
}

const nameAt = (ms: number): string => `sumtree-${new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;

/** Puts something there that is nobody's business, if there is nothing. */
function plant(what: "file" | "directory" | "link" | "half", name: string): void {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, name);
  if (readdirSync(dir).includes(name)) return;
  if (what === "file") writeFileSync(path, "mine");
  else if (what === "link") symlinkSync("/nowhere", path);
  else {
    mkdirSync(path);
    if (what === "half") writeFileSync(join(path, ".lock"), "of a killed process");
  }
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("back" as const), times: fc.integer({ min: 1, max: 3 }) }),
  },
  fc.record({ does: fc.constant("clock" as const), byMs: fc.constantFrom(-1000, -100, 1, 100, 1000) }),
  fc.record({
    does: fc.constant("plant" as const),
    what: fc.constantFrom("file", "directory", "link", "half" as const),
    inSeconds: fc.constantFrom(-1, 0, 0, 1),
  }),
  fc.record({ does: fc.constant("fail" as const), after: fc.constantFrom("nothing", "some bytes" as const) }),
);

describe.skipIf(hasExternalStore)("backups", () => {
  it("have unique names and keep existing files, for any clock and any failure", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        rmSync(dir, { recursive: true, force: true });
        mkdirSync(dir);
        nowMs = T0;
        fault = undefined;
        const kept = new Map<string, string>();
        for (const one of steps) {
          if (one.does === "clock") nowMs += one.byMs;
          if (one.does === "plant") plant(one.what, nameAt(nowMs + one.inSeconds * 1000));
          for (const name of readdirSync(dir)) kept.set(name, contentOf(join(dir, name)));
          if (one.does === "fail") {
            before = new Set(readdirSync(dir));
            fault = (path) => {
              if (one.after === "some bytes" && path !== dir) writeFileSync(join(path, "data"), "x");
              throw new StorageError("no_space", "backup", undefined, "full");
            };
            expect((await back()).status).toBe(503);
          }
          if (one.does === "back") {
            const answers = await Promise.all(Array.from({ length: one.times }, back));
            const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
            expect(statuses).toEqual([201, ...Array.from({ length: one.times - 1 }, () => 409)]);
            const { name, path } = answers.find(({ status }) => status === 201)!.json();
            expect(kept.has(name)).toBe(false);
            expect(readdirSync(path)).toContain(".backup");
            kept.set(name, contentOf(path));
          }
          expect(new Map(readdirSync(dir).map((name) => [name, contentOf(join(dir, name))]))).toEqual(kept);
        }
      }),
      { numRuns: RUNS, seed: chosenSeed() },
    );
  });

  it("of the same second have consecutive names", async () => {
    const names = [];
    for (let n = 0; n < 3; n++) names.push((await back()).json().name);
    expect(names).toEqual([
      "sumtree-20261122T012428Z",
      "sumtree-20261122T012428Z-2",
      "sumtree-20261122T012428Z-3",
    ]);
  });

  it("are rejected during another backup", async () => {
    const [first, second] = await Promise.all([back(), back()]);
    expect([first.status, second.status, second.json()]).toEqual([
      201,
      409,
      { detail: "A backup is already running. Retry when it is done." },
    ]);
  });
});
