import { pino } from "pino";
import type {
  CompletionAttributes,
  EndedCompletion,
  RecordedCompletion,
} from "../../../../src/gateway/recording/recorded-completion.ts";
import {
  Recorder,
  type CompletionStore,
  type RecorderOptions,
} from "../../../../src/gateway/recording/recorder.ts";
import type { Project } from "../../../../src/shared/project.ts";
import { StorageError } from "../../../../src/store/storage-error.ts";

export const project = "acme/forest" as Project;

/** A completion with an integer that no double holds. */
export function ended(callId: string, more: Partial<EndedCompletion> = {}): EndedCompletion {
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
    readInputs: () => ({ seed: 2 ** 53, asked: callId }),
    output: { id: `of ${callId}`, model: "m", text: "long" },
    attributes: { sumtree: { outcome: "finished", usage: "exact" } as CompletionAttributes },
    summary: { usage: { m: { requests: 1 } } },
    exception: null,
    ...more,
  };
}

/** The completion as it is journaled when it is sent. */
export function started(callId: string): EndedCompletion {
  return ended(callId, { output: null, exception: "killed" });
}

/** A completion without content. */
export const bare = (callId: string) => ({
  callId,
  inputs: { truncated: true },
  output: { id: `of ${callId}`, model: "m", truncated: true },
  summary: { usage: { m: { requests: 1 } } },
});

/** A way to the store of all processes, whose writes end when and how the test says. */
export class TestStore implements CompletionStore {
  /** As they are written last. */
  readonly calls: Map<string, RecordedCompletion>;
  readonly written: RecordedCompletion[] = [];
  /** Two completions of a call were written at once: either could be the last. */
  hasClashed = false;
  isAway = false;
  /** True: the process was killed. */
  isDead = false;
  refuses: (completion: RecordedCompletion) => boolean = () => false;
  readonly #writing = new Set<string>();
  #gate: PromiseWithResolvers<void> | undefined;

  constructor(calls = new Map<string, RecordedCompletion>()) {
    this.calls = calls;
  }

  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async write(_project: Project, one: RecordedCompletion): Promise<void> {
    const { callId } = one;
    this.hasClashed ||= this.#writing.has(callId);
    this.#writing.add(callId);
    await this.#gate?.promise;
    if (this.isDead) await new Promise(() => undefined);
    this.#writing.delete(callId);
    if (this.isAway) throw new StorageError("unavailable", "test", undefined, "away");
    if (this.refuses(one)) throw new StorageError("statement", "test", "1", "refused");
    this.written.push(one);
    this.calls.set(callId, one);
  }

  async findStored(calls: readonly { callId: string }[]): Promise<ReadonlySet<string>> {
    if (this.isAway) throw new StorageError("unavailable", "test", undefined, "away");
    return new Set(calls.map(({ callId }) => callId).filter((callId) => this.calls.has(callId)));
  }
}

export function recorderOf(store: TestStore, options: Partial<RecorderOptions> = {}): Recorder {
  return new Recorder({
    store,
    journal: undefined,
    clock: { now: () => performance.now() },
    logger: pino({ level: "silent" }),
    maxPendingCalls: 100,
    maxPendingBytes: 1_000_000,
    ...options,
  });
}

/** Resolves when what was recorded in this turn of the event loop is journaled. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
