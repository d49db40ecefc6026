import fc from "fast-check";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { RecordId, Journal } from "../../../src/journal/journal.ts";
import { openJournal, type OpenedJournal } from "../../../src/journal/open-journal.ts";
import { runs } from "../../helpers/runs.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const RUNS = runs(30, 300);
const { seed } = seededRandom();

const root = mkdtempSync(join(tmpdir(), "sumtree-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dirs = 0;
const newDir = (): string => join(root, String(dirs++));

function open(
  dir: string,
  store = "store",
  maxBytes = 64 * 1024 * 1024,
): OpenedJournal & { failures: unknown[] } {
  const failures: unknown[] = [];
  return { ...openJournal(dir, store, { maxBytes, onFailure: (error) => failures.push(error) }), failures };
}

/** The records that were left, by key. */
function recordsOf(journal: Journal): Record<string, string> {
  return Object.fromEntries(journal.orphaned.map(({ entry, key }) => [key, journal.read(entry)!]));
}

/** Copies the files as a kill leaves them. `cut`: bytes missing at the end of the log, as after a power failure. */
function killed(dir: string, cut = 0): string {
  const left = newDir();
  cpSync(dir, left, { recursive: true });
  for (const name of readdirSync(left).filter((one) => one.endsWith("-wal"))) {
    const path = join(left, name);
    truncateSync(path, Math.max(0, statSync(path).size - cut));
  }
  return left;
}

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.tuple(fc.string(), fc.nat(20_000)) }) },
    { weight: 2, arbitrary: fc.record({ remove: fc.array(fc.nat(), { maxLength: 4 }) }) },
  ),
  { maxLength: 40, size: "max" },
);

describe(`a journal (seed ${seed})`, () => {
  it("contains after a kill the entries added and not removed, and after a power failure those of an earlier time", () => {
    const property = fc.property(steps, fc.nat(30_000), (script, cut) => {
      const dir = newDir();
      const { journal, failures } = open(dir);
      let now: Record<string, string> = {};
      const times = [now];
      const entries = new Map<string, RecordId>();
      for (const [at, step] of script.entries()) {
        if ("add" in step) {
          const [text, length] = step.add;
          const record = text + "é".repeat(length);
          entries.set(`k${at}`, journal.add(`k${at}`, record)!);
          now = { ...now, [`k${at}`]: record };
        } else {
          const keys = Object.keys(now);
          const gone = new Set(
            step.remove.map((one) => keys[one % keys.length]).filter((key) => key !== undefined),
          );
          journal.remove([...gone].map((key) => entries.get(key)!));
          now = Object.fromEntries(Object.entries(now).filter(([key]) => !gone.has(key)));
        }
        times.push(now);
      }
      const afterKill = open(killed(dir)).journal;
      expect(recordsOf(afterKill)).toEqual(now);
      const afterCut = open(killed(dir, cut)).journal;
      expect(times).toContainEqual(recordsOf(afterCut));
      for (const one of [journal, afterKill, afterCut]) one.close();
      expect(failures).toEqual([]);
      expect(recordsOf(open(dir).journal)).toEqual(now);
    });
    fc.assert(property, { seed, numRuns: RUNS });
  });

  it("is never shared: each process has a file of its own, and takes over orphaned ones", () => {
    const dir = newDir();
    const [first, second] = [open(dir).journal, open(dir).journal];
    first.add("a", "1");
    second.add("b", "2");
    first.close();
    const third = open(dir).journal;
    expect(recordsOf(third)).toEqual({ a: "1" });
    second.close();
    third.close();
    const fourth = open(dir).journal;
    expect(recordsOf(fourth)).toEqual({ a: "1", b: "2" });
    fourth.close();
    expect(recordsOf(open(dir).journal)).toEqual({ a: "1", b: "2" });
  });

  it("ignores the entries of another store, and keeps them", () => {
    const dir = newDir();
    const { journal } = open(dir, "one");
    journal.add("a", "1");
    journal.close();
    const other = open(dir, "other");
    expect([recordsOf(other.journal), other.ofOtherStores]).toEqual([{}, 1]);
    expect(recordsOf(open(dir, "one").journal)).toEqual({ a: "1" });
  });

  it("rejects entries while full, reports that, and accepts some once others are removed", () => {
    const { journal, failures } = open(newDir(), "store", 256 * 1024);
    const record = "x".repeat(10_000);
    const entries: RecordId[] = [];
    for (;;) {
      const entry = journal.add("k", record);
      if (entry === undefined) break;
      entries.push(entry);
    }
    expect(entries.length).toBeGreaterThan(15);
    expect(entries.length).toBeLessThan(26);
    expect(failures).toHaveLength(1);
    journal.remove(entries.slice(0, 3));
    expect(journal.add("k", record)).toBeDefined();
    journal.close();
  });

  it("sets a damaged file aside, and starts an empty one", () => {
    const dir = newDir();
    open(dir).journal.close();
    const [name] = readdirSync(dir);
    writeFileSync(join(dir, name!), "not a database at all".repeat(1000));
    const { journal, damaged } = open(dir);
    expect([recordsOf(journal), damaged]).toEqual([{}, [expect.stringContaining(`${name}.damaged-`)]]);
    expect(journal.add("a", "1")).toBeDefined();
    journal.close();
  });

  it("is readable for its user only", () => {
    const parent = newDir();
    mkdirSync(parent);
    const dir = join(parent, "journal");
    open(dir).journal.close();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });
});
