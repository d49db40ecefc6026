import fc from "fast-check";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import { CompletionJournal } from "../../../../src/gateway/recording/completion-journal.ts";
import type { Recorder, RecorderOptions } from "../../../../src/gateway/recording/recorder.ts";
import type { Journal, JournalRecord } from "../../../../src/journal/journal.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";
import { bare, ended, project, recorderOf, started, TestStore, turn } from "./test-store.ts";

const MINUTE_MS = 60_000;

let store: TestStore;
let now: number;
let logged: { readonly count: number }[];
beforeEach(() => {
  store = new TestStore();
  [now, logged] = [0, []];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  expect(store.hasClashed).toBe(false);
});

function create(options: Partial<RecorderOptions> = {}): Recorder {
  const write = (line: string) => void logged.push(JSON.parse(line) as { count: number });
  return recorderOf(store, {
    clock: { now: () => now },
    logger: pino({ level: "error" }, { write }),
    ...options,
  });
}

async function record(recorder: Recorder, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => recorder.record(id, project, ended(id), { bytes: 100 })));
}

async function pass(ms: number): Promise<void> {
  now += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

async function passMinutes(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) await pass(MINUTE_MS);
}

const numbered = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`);
const written = (): string[] => store.written.map(({ callId }) => callId);

/** A journal in memory, which notes what is added at once and rejects texts that do not fit. */
function memoryJournal(fits: (text: string) => boolean = () => true) {
  const added: (readonly JournalRecord[])[] = [];
  const kept = new Map<number, JournalRecord>();
  let ids = 0;
  const journal: Journal = {
    orphaned: [],
    lastWriteMs: 0,
    add(records) {
      added.push(records);
      if (!records.every(({ text }) => fits(text))) return undefined;
      return records.map((one) => {
        kept.set(ids, one);
        return ids++;
      });
    },
    remove(gone) {
      for (const id of gone) kept.delete(id);
    },
    read: (id) => kept.get(id)?.text,
    close: () => undefined,
  };
  return { journal, added, kept };
}

describe("the recorder", () => {
  it("drops content before it exceeds its limits, and keeps all counts", async () => {
    store.hold();
    const recorder = create({ maxPendingBytes: 250 });
    await record(recorder, ["a", "b", "c"]);
    store.release();
    await recorder.drain(1000);
    await record(recorder, ["d"]);
    await recorder.drain(1000);
    expect(written().toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(store.calls.get("c")).toMatchObject(bare("c"));
    for (const id of ["a", "b", "d"]) expect(store.calls.get(id)!.output).toEqual(ended(id).output);
    expect(recorder.counts().dropped).toBe(0);
  });

  it("rejects what it cannot record, and records what was admitted before", async () => {
    store.hold();
    const recorder = create({ maxPendingCalls: 2 });
    recorder.admit();
    await record(recorder, ["a", "b"]);
    expect(() => recorder.admit()).toThrow("Too many completions are waiting to be recorded.");
    await record(recorder, ["c"]);
    store.release();
    await recorder.drain(1000);
    recorder.admit();
    expect(written().toSorted()).toEqual(["a", "b", "c"]);
  });

  it("retries without content if the store rejects a completion", async () => {
    store.refuses = ({ output }) => !("truncated" in (output as object));
    const recorder = create();
    await record(recorder, ["a"]);
    await passMinutes(14);
    expect(recorder.counts()).toMatchObject({ pending: 1, recorded: 0 });
    await passMinutes(2);
    expect(recorder.counts()).toMatchObject({ pending: 0, recorded: 1, dropped: 0 });
    expect(store.calls.get("a")).toMatchObject(bare("a"));
  });

  it("waits for an unavailable store without limit", async () => {
    const recorder = create();
    store.isAway = true;
    await record(recorder, ["a", "b"]);
    await passMinutes(100);
    expect(recorder.counts()).toMatchObject({ pending: 2, recorded: 0, dropped: 0 });
    store.isAway = false;
    await pass(10_000);
    expect(recorder.counts()).toMatchObject({ pending: 0, recorded: 2, dropped: 0 });
    expect(store.calls.get("a")!.output).toEqual(ended("a").output);
  });

  it("stores together what comes in half a second, or 500 at once", async () => {
    const recorder = create();
    await record(recorder, numbered(100, "first"));
    await pass(25);
    expect(store.written).toHaveLength(100);
    await record(recorder, numbered(499, "second"));
    await pass(499);
    expect(store.written).toHaveLength(100);
    await pass(1);
    expect(store.written).toHaveLength(599);
    await record(recorder, numbered(501, "third"));
    await turn();
    expect(store.written).toHaveLength(1099);
    await recorder.drain(1000);
    expect(new Set(written()).size).toBe(1100);
  });

  it("journals what is recorded in one turn in one transaction, before it resolves", async () => {
    const { journal, added, kept } = memoryJournal();
    const recorder = create({ journal });
    void recorder.start("a", project, () => started("a"));
    const both = record(recorder, ["a", "b"]);
    expect(added).toEqual([]);
    await both;
    await record(recorder, ["c"]);
    expect(added.map((records) => records.map(({ key }) => key))).toEqual([["a", "a", "b"], ["c"]]);
    await recorder.drain(1000);
    expect(kept.size).toBe(0);
  });

  it("journals counts alone where content has no space, and at worst keeps all in memory", async () => {
    const { journal, added } = memoryJournal((text) => !/asked|of c/.test(text));
    const recorder = create({ journal, maxPendingCalls: 2 });
    store.hold();
    await record(recorder, ["a", "b"]);
    recorder.admit();
    expect(recorder.counts().unjournaled).toBe(0);
    await record(recorder, ["c"]);
    expect(() => recorder.admit()).toThrow("Too many completions");
    expect(recorder.counts().unjournaled).toBe(1);
    expect(added.map((records) => records.map(({ text }) => text.includes("truncated")))).toEqual([
      [false, false],
      [true],
      [true],
      [false],
      [true],
    ]);
    store.release();
    await recorder.drain(1000);
    for (const id of ["a", "b"]) expect(store.calls.get(id)!.output).toEqual(ended(id).output);
    expect(store.calls.get("c")).toMatchObject(bare("c"));
    expect(recorder.counts()).toMatchObject({ recorded: 3, dropped: 0 });
  });

  it("journals no content beyond its limit, and some again once others are stored", async () => {
    const { journal, kept } = memoryJournal();
    const completions = new CompletionJournal(journal, 8000);
    const output = { id: "id", text: "x".repeat(1000) };
    const hasContent = async (id: string): Promise<boolean> => {
      expect(await completions.end(id, project, ended(id, { output }))).toBe(true);
      return [...kept.values()].at(-1)!.text.includes("xxx");
    };
    const whole: string[] = [];
    for (const id of numbered(20, "c")) if (await hasContent(id)) whole.push(id);
    expect(whole).toEqual(numbered(whole.length, "c"));
    expect(whole.length).toBeGreaterThan(4);
    expect(whole.length).toBeLessThan(9);
    expect(kept.size).toBe(20);
    completions.remove(numbered(20, "c"));
    expect(await hasContent("later")).toBe(true);

    const orphaned = [{ id: 1000, key: "orphan", bytes: 8000 }];
    const restarted = new CompletionJournal({ ...journal, orphaned }, 8000);
    await restarted.end("new", project, ended("new", { output }));
    expect([...kept.values()].at(-1)!.text).not.toContain("xxx");
  });

  it("records the counts of a completion whose inputs cannot be read", async () => {
    const { journal, kept } = memoryJournal();
    const recorder = create({ journal });
    const readInputs = (): never => {
      throw new Error("unreadable");
    };
    const unreadable = recorder.record("a", project, ended("a", { readInputs }), { bytes: 100 });
    await Promise.all([unreadable, record(recorder, ["b"])]);
    await passMinutes(16);
    expect(store.calls.get("a")).toMatchObject(bare("a"));
    expect(store.calls.get("b")!.output).toEqual(ended("b").output);
    expect(kept.size).toBe(0);
  });

  interface Order {
    readonly when: string;
    /** Recorded before, while the store is slow. */
    readonly before?: readonly string[];
    readonly bytes?: readonly [number, number];
    readonly between?: () => Promise<void>;
    readonly failures?: readonly StorageError["kind"][];
  }
  const releaseAndPass = async (): Promise<void> => {
    store.release();
    await pass(5000);
  };
  const orders: readonly Order[] = [
    { when: "the first waits", before: ["other"] },
    { when: "the first is being written", between: () => pass(5000) },
    { when: "the first is stored", between: releaseAndPass },
    { when: "the first fills the memory while it is being written", bytes: [250, 100] },
    { when: "memory has space for the second alone", before: ["other"], bytes: [200, 50] },
    { when: "the first is far behind in the journal", before: numbered(600, "before"), bytes: [100, 0] },
    { when: "the store is away once", failures: ["unavailable"] },
    { when: "the store is away twice", failures: ["unavailable", "unavailable"] },
    { when: "the store refuses the first", failures: ["statement"] },
    { when: "the store refuses the first twice", before: ["other"], failures: ["statement", "statement"] },
  ];
  it.each(orders)("stores two records of a call one after the other: $when", async (order) => {
    const { before = [], bytes = [100, 100], between, failures = [] } = order;
    const { journal, kept } = memoryJournal();
    const recorder = create({ journal, maxPendingBytes: 250 });
    const left = [...failures];
    store.refuses = ({ callId }) => {
      const kind = callId === "a" ? left.shift() : undefined;
      if (kind !== undefined) throw new StorageError(kind, "test", undefined, "refused");
      return false;
    };
    store.hold();
    await record(recorder, before);
    await recorder.record("a", project, ended("a", { output: "first" }), { bytes: bytes[0] });
    await between?.();
    await recorder.record("a/1", project, ended("a", { output: "second" }), { bytes: bytes[1] });
    store.release();
    await pass(10_000);
    const ofCall = store.written.filter(({ callId }) => callId === "a");
    expect(ofCall.map(({ output }) => output)).toEqual(["first", "second"]);
    expect(new Set(written())).toEqual(new Set([...before, "a"]));
    expect(recorder.counts()).toMatchObject({ pending: 0, recorded: before.length + 2, dropped: 0 });
    expect(kept.size).toBe(0);
  });

  it("stores others although 500 wait for a part of the store that is away", async () => {
    store.refuses = ({ callId }) => {
      if (callId.startsWith("away")) throw new StorageError("unavailable", "test", undefined, "away");
      return false;
    };
    const recorder = create({ maxPendingCalls: 1000 });
    await record(recorder, [...numbered(500, "away"), "other"]);
    await passMinutes(2);
    expect(written()).toEqual(["other"]);
  });

  it("keeps in the journal what is recorded while the store takes another record of its call", async () => {
    const { journal, kept } = memoryJournal();
    const recorder = create({ journal });
    store.hold();
    await recorder.record("a", project, ended("a", { output: "first" }), { bytes: 100 });
    const second = recorder.record("a/1", project, ended("a", { output: "second" }), { bytes: 100 });
    store.release();
    await second;
    expect([...kept.values()].map(({ text }) => text.includes("second"))).toContain(true);
    await recorder.drain(1000);
    expect(kept.size).toBe(0);
  });

  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ records: fc.integer({ min: 1, max: 250 }) }) },
    { weight: 2, arbitrary: fc.record({ refused: fc.integer({ min: 1, max: 250 }) }) },
    { weight: 2, arbitrary: fc.record({ isAway: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ passesMs: fc.integer({ min: 0, max: 20 * MINUTE_MS }) }) },
  );
  it("reports every dropped completion in metric and log", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        store = new TestStore();
        store.refuses = ({ callId }) => callId.startsWith("refused");
        [now, logged] = [0, []];
        const recorder = create({ maxPendingCalls: 300 });
        let [given, refused] = [0, 0];
        for (const [at, one] of steps.entries()) {
          if ("records" in one) await record(recorder, numbered(one.records, `good${at}/`));
          else if ("refused" in one) await record(recorder, numbered(one.refused, `refused${at}/`));
          else if ("isAway" in one) store.isAway = one.isAway;
          else await pass(one.passesMs);
          if ("records" in one) given += one.records;
          else if ("refused" in one) refused += one.refused;
        }
        store.isAway = false;
        await pass(MINUTE_MS);
        // those that the store refuses keep none of the others waiting
        const { recorded, dropped, pending } = recorder.counts();
        expect([recorded, dropped + pending]).toEqual([given, refused]);
        expect(new Set(written()).size).toBe(given);
        const drained = recorder.drain(500);
        await pass(500);
        await drained;
        expect(recorder.counts()).toMatchObject({ recorded: given, dropped: refused, pending: 0 });
        expect(logged.reduce((sum, { count }) => sum + count, 0)).toBe(refused);
      }),
      { numRuns: runs(4, 60), seed: chosenSeed() },
    );
  });
});
