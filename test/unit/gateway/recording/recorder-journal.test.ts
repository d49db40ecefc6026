import fc from "fast-check";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import type { RecordedCompletion } from "../../../../src/gateway/recording/recorded-completion.ts";
import { CompletionJournal } from "../../../../src/gateway/recording/completion-journal.ts";
import { Recorder, type CompletionStore } from "../../../../src/gateway/recording/recorder.ts";
import type { Journal } from "../../../../src/journal/journal.ts";
import { openJournal } from "../../../../src/journal/open-journal.ts";
import { stringifyJson } from "../../../../src/shared/json.ts";
import type { Project } from "../../../../src/shared/project.ts";
import { runs } from "../../../helpers/runs.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { until } from "../../../helpers/until.ts";

const RUNS = runs(20, 300);
const { seed } = seededRandom();

const root = mkdtempSync(join(tmpdir(), "sumtree-recorder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dirs = 0;

const project = "acme/forest" as Project;
const logger = pino({ level: "silent" });

function completion(callId: string, outcome: "finished" | "aborted"): Omit<RecordedCompletion, "inputs"> {
  const marks = {
    source: "gateway",
    stream: false,
    outcome,
    usage: outcome === "finished" ? "exact" : "estimated",
    upstream: "chat",
    status: 200,
    first_byte_ms: 1,
    request_id: "r",
  } as const;
  return {
    callId,
    apiKey: "a-key",
    opName: "openai.chat.completions.create",
    threadId: undefined,
    userId: undefined,
    traceId: "t",
    parentId: null,
    startedAtMs: 1000,
    endedAtMs: 2000,
    output: outcome === "finished" ? { text: `of ${callId}` } : null,
    attributes: { sumtree: marks },
    summary: { usage: { m: { requests: 1 } } },
    exception: null,
  };
}

const inputsOf = (callId: string) => ({ seed: 2 ** 53, asked: callId });

/** A way to the store of all processes. */
class Store implements CompletionStore {
  readonly calls: Map<string, RecordedCompletion>;
  isAway = false;
  /** True: the process was killed. */
  isDead = false;

  constructor(calls = new Map<string, RecordedCompletion>()) {
    this.calls = calls;
  }

  async write(_project: Project, one: RecordedCompletion): Promise<void> {
    if (this.isDead) await new Promise(() => undefined);
    if (this.isAway) throw new Error("the store is away");
    this.calls.set(one.callId, one);
  }

  async findStored(calls: readonly { callId: string }[]): Promise<ReadonlySet<string>> {
    if (this.isAway) throw new Error("the store is away");
    return new Set(calls.map(({ callId }) => callId).filter((callId) => this.calls.has(callId)));
  }
}

function openIn(dir: string, maxBytes = 64 * 1024 * 1024): Journal {
  return openJournal(dir, "store", { maxBytes, onFailure: () => undefined }).journal;
}

function recorderOf(store: Store, journal: Journal | undefined): Recorder {
  const clock = { now: () => performance.now() };
  return new Recorder({ store, journal, clock, logger, maxPendingCalls: 3, maxPendingBytes: 1_000_000 });
}

/** Random events of the calls of a process. */
const script = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ start: fc.nat(15) }) },
    { weight: 4, arbitrary: fc.record({ end: fc.nat(15) }) },
    { weight: 1, arbitrary: fc.constantFrom("away" as const, "back" as const, "wait" as const) },
  ),
  { maxLength: 40, size: "max" },
);

async function play(
  recorder: Recorder,
  store: Store,
  steps: typeof script extends fc.Arbitrary<infer S> ? S : never,
) {
  const started = new Set<string>();
  const ended = new Set<string>();
  for (const step of steps) {
    if (step === "away" || step === "back") store.isAway = step === "away";
    else if (step === "wait") await new Promise((resolve) => setImmediate(resolve));
    else if ("start" in step) {
      const callId = `c${step.start}`;
      if (started.has(callId) || ended.has(callId)) continue;
      started.add(callId);
      recorder.start(project, () => ({ ...completion(callId, "aborted"), inputs: inputsOf(callId) }));
    } else {
      const callId = `c${step.end}`;
      if (ended.has(callId)) continue;
      ended.add(callId);
      recorder.record(
        project,
        { ...completion(callId, "finished"), readInputs: () => inputsOf(callId) },
        100,
      );
    }
  }
  return { started, ended };
}

describe(`a killed recorder (seed ${seed})`, () => {
  it("records after the next start each completed response, and each interrupted one as interrupted", async () => {
    const property = fc.asyncProperty(script, async (steps) => {
      const dying = new Store();
      const [dir, copy] = [join(root, String(dirs++)), join(root, String(dirs++))];
      const journal = openIn(dir);
      const { started, ended } = await play(recorderOf(dying, journal), dying, steps);
      dying.isDead = true;
      cpSync(dir, copy, { recursive: true });
      journal.close();

      const store = new Store(dying.calls);
      store.isAway = dying.isAway;
      const next = openIn(copy);
      const recorder = recorderOf(store, next);
      await new Promise((resolve) => setImmediate(resolve));
      store.isAway = false;
      await until(() => recorder.counts().pending === 0);
      const outcomes = [...store.calls].map(([callId, one]) => [callId, one.attributes.sumtree.outcome]);
      const expected = [...new Set([...started, ...ended])].map((callId) => [
        callId,
        ended.has(callId) ? "finished" : "aborted",
      ]);
      expect(new Map(outcomes as [string, string][])).toEqual(new Map(expected as [string, string][]));
      for (const [callId, { inputs, output }] of store.calls) {
        expect(stringifyJson(inputs)).toBe(stringifyJson(inputsOf(callId)));
        expect(output).toEqual(ended.has(callId) ? { text: `of ${callId}` } : null);
      }
      const cut = [...started].filter((callId) => !ended.has(callId));
      expect(recorder.counts()).toMatchObject({ dropped: 0, recovered: { cut: cut.length } });
      next.close();
      expect(openIn(copy).orphaned).toEqual([]);
    });
    await fc.assert(property, { seed, numRuns: RUNS });
  });

  it("records what exceeds its queue from the journal, once the store is available", async () => {
    const store = new Store();
    store.isAway = true;
    const journal = openIn(join(root, String(dirs++)));
    const recorder = recorderOf(store, journal);
    const ids = Array.from({ length: 500 }, (_, at) => `c${at}`);
    for (const callId of ids) {
      recorder.record(
        project,
        { ...completion(callId, "finished"), readInputs: () => inputsOf(callId) },
        100,
      );
    }
    expect(recorder.counts()).toMatchObject({ pending: 500, dropped: 0 });
    store.isAway = false;
    await until(() => recorder.counts().pending === 0);
    expect([...store.calls.keys()].toSorted()).toEqual(ids.toSorted());
    expect(recorder.counts()).toMatchObject({
      recorded: 500,
      recovered: { finished: 0, cut: 0 },
      unjournaled: 0,
    });
    journal.close();
  });

  it("does not treat a stored completion as interrupted although the journal was full at its end", async () => {
    const store = new Store();
    const [dir, copy] = [join(root, String(dirs++)), join(root, String(dirs++))];
    const journal = openIn(dir, 64 * 1024);
    const killed = recorderOf(store, { ...journal, remove: () => undefined });
    killed.start(project, () => ({ ...completion("c", "aborted"), inputs: {} }));
    while (journal.add("other", "x".repeat(1000)) !== undefined);
    killed.record(project, { ...completion("c", "finished"), readInputs: () => ({}) }, 100);
    await until(() => store.calls.has("c"));
    expect(killed.counts().unjournaled).toBe(1);
    cpSync(dir, copy, { recursive: true });

    const next = openIn(copy);
    const recorder = recorderOf(store, next);
    await until(() => recorder.counts().pending === 0);
    expect(store.calls.get("c")!.attributes.sumtree.outcome).toBe("finished");
    expect(recorder.counts().recovered).toEqual({ finished: 0, cut: 0 });
  });

  it("stores the counts of all projects, and the content of other projects, although one project fills it", async () => {
    const store = new Store();
    store.isAway = true;
    const [dir, copy] = [join(root, String(dirs++)), join(root, String(dirs++))];
    const journal = openIn(dir);
    const completions = new CompletionJournal(journal, 1_000_000);
    const long = (callId: string, output: string | null) => ({
      ...completion(callId, "finished"),
      output: output === null ? null : { id: callId, text: output },
    });
    const text = "x".repeat(100_000);
    const record = (of: string, callId: string): void => {
      completions.start(of as Project, () => ({ ...long(callId, null), inputs: { text } }));
      expect(completions.end(of as Project, { ...long(callId, text), readInputs: () => ({ text }) })).toBe(
        true,
      );
    };
    for (let at = 0; at < 20; at++) record("acme/flood", `f${at}`);
    record("acme/forest", "mine");
    cpSync(dir, copy, { recursive: true });
    journal.close();

    const recorder = recorderOf(store, openIn(copy));
    store.isAway = false;
    await until(() => recorder.counts().pending === 0);
    expect(store.calls.size).toBe(21);
    expect(store.calls.get("f19")).toMatchObject({
      inputs: { truncated: true },
      output: { id: "f19", truncated: true },
      summary: { usage: { m: { requests: 1 } } },
    });
    for (const whole of ["f0", "mine"])
      expect(store.calls.get(whole)).toMatchObject({ inputs: { text }, output: { id: whole, text } });
  });

  it("leaves completions that the store rejected before a stop to the next start", async () => {
    const store = new Store();
    store.isAway = true;
    const dir = join(root, String(dirs++));
    const journal = openIn(dir);
    const stopped = recorderOf(store, journal);
    const ids = ["a", "b", "c", "d", "e"];
    for (const callId of ids) {
      stopped.record(project, { ...completion(callId, "finished"), readInputs: () => inputsOf(callId) }, 100);
    }
    await stopped.drain(50);
    expect(stopped.counts().dropped).toBe(0);
    journal.close();
    store.isAway = false;
    const recorder = recorderOf(store, openIn(dir));
    await until(() => recorder.counts().pending === 0);
    expect([...store.calls.keys()].toSorted()).toEqual(ids);
    expect(recorder.counts().recovered).toEqual({ finished: 5, cut: 0 });
  });
});
