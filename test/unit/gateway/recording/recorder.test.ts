import fc from "fast-check";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import type { Project } from "../../../../src/shared/project.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";
import type {
  EndedCompletion,
  RecordedCompletion,
} from "../../../../src/gateway/recording/recorded-completion.ts";
import { Recorder, type CompletionStore } from "../../../../src/gateway/recording/recorder.ts";

const project = "acme/forest" as Project;

function completion(callId: string): EndedCompletion {
  return {
    callId,
    apiKey: "a-key",
    opName: "openai.chat.completions.create",
    threadId: undefined,
    userId: undefined,
    traceId: "t",
    parentId: null,
    startedAtMs: 0,
    endedAtMs: 1,
    readInputs: () => ({}),
    output: null,
    attributes: {
      sumtree: {
        source: "gateway",
        stream: false,
        outcome: "finished",
        usage: "exact",
        upstream: "chat",
        status: 200,
        first_byte_ms: 1,
        request_id: "r",
      },
    },
    summary: { usage: {} },
    exception: null,
  };
}

/** A store whose writes end when and how the test says. */
class SlowStore implements CompletionStore {
  readonly stored: string[] = [];
  readonly written: RecordedCompletion[] = [];
  refusesContent = false;
  failures = 0;
  /** Refuses these for good. */
  readonly refused = new Set<string>();
  #gate: PromiseWithResolvers<void> | undefined;

  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async write(_project: Project, completion: RecordedCompletion): Promise<void> {
    const { callId, output } = completion;
    await this.#gate?.promise;
    const isRefused = this.refusesContent && !isTruncated(output);
    if (isRefused || this.refused.has(callId)) throw new StorageError("statement", "test", "1", "refused");
    if (this.failures > 0) {
      this.failures--;
      throw new StorageError("unavailable", "test", undefined, "away");
    }
    this.stored.push(callId);
    this.written.push(completion);
  }

  async findStored(calls: readonly { callId: string }[]): Promise<ReadonlySet<string>> {
    return new Set(calls.map(({ callId }) => callId).filter((callId) => this.stored.includes(callId)));
  }
}

function isTruncated(output: unknown): boolean {
  return typeof output === "object" && output !== null && "truncated" in output;
}

let store: SlowStore;
let now: number;
let logged: { readonly count: number }[];
function recorderOf(limits: { calls?: number; bytes?: number } = {}): Recorder {
  return new Recorder({
    store,
    journal: undefined,
    clock: { now: () => now },
    logger: pino(
      { level: "error" },
      { write: (line) => void logged.push(JSON.parse(line) as { count: number }) },
    ),
    maxPendingCalls: limits.calls ?? 100,
    maxPendingBytes: limits.bytes ?? 1_000_000,
  });
}

/** The counts that have nothing to do with the journal. */
function counts(recorder: Recorder): object {
  const { pending, recorded, dropped } = recorder.counts();
  return { pending, recorded, dropped };
}

beforeEach(() => {
  store = new SlowStore();
  now = 0;
  logged = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => vi.useRealTimers());

describe("the recorder", () => {
  it("drops content before it exceeds its limits, and keeps all counts", async () => {
    store.hold();
    const recorder = recorderOf({ bytes: 250 });
    const output = { id: "chatcmpl-1", model: "m", choices: ["long"] };
    for (const id of ["a", "b", "c"]) recorder.record(project, { ...completion(id), output }, 100);
    recorder.record("acme/other" as Project, { ...completion("d"), output }, 100);
    store.release();
    await recorder.drain(1000);
    recorder.record(project, { ...completion("e"), output }, 100);
    await recorder.drain(1000);
    const bare = { inputs: { truncated: true }, output: { id: "chatcmpl-1", model: "m", truncated: true } };
    const written = store.written.toSorted((a, b) => a.callId.localeCompare(b.callId));
    expect(written.map(({ callId, inputs, output }) => ({ callId, inputs, output }))).toEqual(
      ["a", "b", "c", "d", "e"].map((callId) =>
        callId === "c" ? { callId, ...bare } : { callId, inputs: {}, output },
      ),
    );
    expect(recorder.counts().dropped).toBe(0);
  });

  it("admits no more than it can record, and reserves capacity for others", async () => {
    store.hold();
    const recorder = recorderOf({ calls: 2 });
    const tenant = { project, key: "a-key" };
    for (const id of ["a", "b"]) {
      recorder.admit(tenant);
      recorder.record(project, completion(id), 1);
    }
    expect(() => recorder.admit(tenant)).toThrow("Too many completions are waiting to be recorded.");
    recorder.admit({ project: "acme/other", key: "a-key" });
    // one that had been admitted before
    recorder.record(project, completion("c"), 1);
    store.release();
    await recorder.drain(1000);
    recorder.admit(tenant);
    expect(store.stored.toSorted()).toEqual(["a", "b", "c"]);
  });

  it("retries without content if the store rejects a completion", async () => {
    store.refusesContent = true;
    const recorder = recorderOf();
    recorder.record(project, { ...completion("a"), output: { id: "x" } }, 1);
    for (let minutes = 0; minutes < 20; minutes++) {
      now += 60_000;
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(counts(recorder)).toEqual({ pending: 0, recorded: 1, dropped: 0 });
    expect(store.written).toMatchObject([{ callId: "a", output: { truncated: true } }]);
  });

  it("waits for an unavailable store without limit", async () => {
    const recorder = recorderOf();
    store.failures = Number.POSITIVE_INFINITY;
    for (const id of ["a", "b"]) recorder.record(project, completion(id), 1);
    for (let minutes = 0; minutes < 100; minutes++) {
      now += 60_000;
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(counts(recorder)).toEqual({ pending: 2, recorded: 0, dropped: 0 });
    store.failures = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counts(recorder)).toEqual({ pending: 0, recorded: 2, dropped: 0 });
  });

  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ records: fc.integer({ min: 1, max: 250 }) }) },
    { weight: 2, arbitrary: fc.record({ refused: fc.integer({ min: 1, max: 250 }) }) },
    { weight: 2, arbitrary: fc.record({ isAway: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ passesMs: fc.integer({ min: 0, max: 20 * 60_000 }) }) },
  );
  it("reports every dropped completion in metric and log", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        store = new SlowStore();
        [now, logged] = [0, []];
        const recorder = recorderOf({ calls: 300 });
        let given = 0;
        const give = (many: number, isRefused: boolean): void => {
          for (let n = 0; n < many; n++) {
            const id = `c${given++}`;
            if (isRefused) store.refused.add(id);
            recorder.record(project, completion(id), 1);
          }
        };
        for (const one of steps) {
          if ("records" in one) give(one.records, false);
          else if ("refused" in one) give(one.refused, true);
          else if ("isAway" in one) store.failures = one.isAway ? Number.POSITIVE_INFINITY : 0;
          else {
            now += one.passesMs;
            await vi.advanceTimersByTimeAsync(one.passesMs);
          }
        }
        store.failures = 0;
        await vi.advanceTimersByTimeAsync(60_000);
        // those that the store refuses keep none of the others waiting
        const { recorded, dropped, pending } = recorder.counts();
        expect(recorded + dropped + pending).toBe(given);
        expect(pending).toBeLessThanOrEqual(store.refused.size);
        expect(new Set(store.stored).size).toBe(recorded);
        const drained = recorder.drain(500);
        await vi.advanceTimersByTimeAsync(500);
        await drained;
        expect(recorder.counts()).toMatchObject({ recorded, dropped: given - recorded, pending: 0 });
        expect(logged.reduce((sum, { count }) => sum + count, 0)).toBe(given - recorded);
      }),
      { numRuns: runs(4, 60), seed: chosenSeed() },
    );
  });
});
