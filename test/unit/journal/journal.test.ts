import fc from "fast-check";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  type Journal,
  type JournalRecord,
  type RecordId,
  openJournal,
  type OpenedJournal,
} from "../../../src/journal/journal.ts";
import { isLong, runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

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

const one = (key: string, text = key): JournalRecord[] => [{ key, text }];

/** The records that were left, oldest first. */
const recordsOf = (journal: Journal): JournalRecord[] =>
  journal.orphaned.map(({ id, key, bytes }) => {
    const text = journal.read(id)!;
    expect(bytes).toBe(Buffer.byteLength(text));
    return { key, text };
  });

function leftIn(dir: string, store?: string): JournalRecord[] {
  const { journal } = open(dir, store);
  const left = recordsOf(journal);
  journal.close();
  return left;
}

/** Copies the files as a kill leaves them. `cut`: bytes missing at the end of the log, as after a power failure. */
function killed(dir: string, cut = 0): string {
  const left = newDir();
  cpSync(dir, left, { recursive: true });
  for (const name of readdirSync(left).filter((file) => file.endsWith("-wal"))) {
    const path = join(left, name);
    truncateSync(path, Math.max(0, statSync(path).size - cut));
  }
  return left;
}

const added = fc.array(fc.tuple(fc.string(), fc.nat(20_000)), { minLength: 1, maxLength: 4 });
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: added }) },
    { weight: 2, arbitrary: fc.record({ remove: fc.array(fc.nat(), { maxLength: 4 }) }) },
  ),
  { maxLength: 30, size: "max" },
);

describe("a journal", () => {
  it("contains after a kill the records added and not removed, and after a power failure those of an earlier time", () => {
    const property = fc.property(steps, fc.nat(30_000), (script, cut) => {
      const dir = newDir();
      const { journal, failures } = open(dir);
      let now: (JournalRecord & { id: RecordId })[] = [];
      const times: JournalRecord[][] = [[]];
      for (const [at, step] of script.entries()) {
        if ("add" in step) {
          const records = step.add.map(([text, length], nth) => ({
            key: `k${at}/${nth % 2}`,
            text: text + "é".repeat(length),
          }));
          const ids = journal.add(records)!;
          now = [...now, ...records.map((record, nth) => ({ ...record, id: ids[nth]! }))];
        } else {
          const gone = new Set(step.remove.map((place) => now[place % now.length]?.id));
          journal.remove([...gone].filter((id) => id !== undefined));
          now = now.filter(({ id }) => !gone.has(id));
        }
        times.push(now.map(({ key, text }) => ({ key, text })));
      }
      expect(leftIn(killed(dir))).toEqual(times.at(-1));
      expect(times).toContainEqual(leftIn(killed(dir, cut)));
      journal.close();
      expect(failures).toEqual([]);
      expect(leftIn(dir)).toEqual(times.at(-1));
    });
    fc.assert(property, { seed: chosenSeed(), numRuns: runs(30, 300) });
  });

  it("is locked by its process until that closes it", () => {
    const dir = newDir();
    const first = open(dir).journal;
    first.add(one("a"));
    const read = () => {
      const other = new DatabaseSync(join(dir, "completions.db"));
      try {
        return other.prepare("SELECT key FROM records").all();
      } finally {
        other.close();
      }
    };
    expect(read).toThrow("database is locked");
    first.close();
    expect(read()).toEqual([{ key: "a" }]);
  });

  it.runIf(isLong)("is not opened by a second process, whose waiting harms nothing", () => {
    const dir = newDir();
    const { journal, failures } = open(dir);
    expect(() => open(dir)).toThrow("database is locked");
    journal.add(one("a"));
    expect(leftIn(killed(dir))).toEqual(one("a"));
    journal.close();
    expect([failures, readdirSync(dir)]).toEqual([[], ["completions.db"]]);
  });

  it("reports what cannot be written once it is closed", () => {
    const { journal, failures } = open(newDir());
    journal.close();
    expect([journal.add(one("a")), journal.remove([1]), journal.read(1)]).toEqual(Array(3).fill(undefined));
    expect(failures).toHaveLength(3);
  });

  it("ignores the records of another store, and keeps them", () => {
    const dir = newDir();
    const { journal } = open(dir, "one");
    journal.add(one("a"));
    journal.close();
    const other = open(dir, "other");
    expect([recordsOf(other.journal), other.ofOtherStores]).toEqual([[], 1]);
    other.journal.close();
    expect(leftIn(dir, "one")).toEqual(one("a"));
  });

  it("rejects records while full, all of a transaction or none, and accepts some once others are removed", () => {
    const dir = newDir();
    const { journal, failures } = open(dir, "store", 256 * 1024);
    const text = "x".repeat(10_000);
    const ids: RecordId[] = [];
    for (let more = journal.add(one("k", text)); more !== undefined; more = journal.add(one("k", text)))
      ids.push(...more);
    expect(ids.length).toBeGreaterThan(15);
    expect(ids.length).toBeLessThan(26);
    expect(failures).toHaveLength(1);
    journal.remove(ids.slice(0, 3));
    expect(journal.add(Array.from({ length: 8 }, () => ({ key: "all", text })))).toBeUndefined();
    expect(journal.add(one("last", text))).toBeDefined();
    journal.close();
    expect(leftIn(dir).map(({ key }) => key)).toEqual([...ids.slice(3).map(() => "k"), "last"]);
  });

  const scribble = (bytes: Buffer, from: number): Buffer =>
    Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from, "not a page")]);
  it.each([
    { what: "no database", damage: () => Buffer.from("not a database at all".repeat(1000)) },
    { what: "a database with a damaged page", damage: (bytes: Buffer) => scribble(bytes, 4096) },
    { what: "half a database", damage: (bytes: Buffer) => bytes.subarray(0, bytes.length / 2) },
  ])("sets a damaged file aside, and starts an empty one: $what", ({ damage }) => {
    const dir = newDir();
    const before = open(dir).journal;
    for (let at = 0; at < 20; at++) before.add(one(`k${at}`, "x".repeat(5000)));
    before.close();
    const path = join(dir, "completions.db");
    const bytes = damage(readFileSync(path));
    writeFileSync(path, bytes);
    const { journal, damaged } = open(dir);
    expect([recordsOf(journal), damaged]).toEqual([[], expect.stringContaining(`${path}.damaged-`)]);
    expect(readFileSync(damaged!).equals(bytes)).toBe(true);
    expect(journal.add(one("a"))).toBeDefined();
    journal.close();
    expect(leftIn(dir)).toEqual(one("a"));
  });

  it("is readable for its user only", () => {
    const parent = newDir();
    mkdirSync(parent);
    const dir = join(parent, "journal");
    open(dir).journal.close();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });
});
