import fc from "fast-check";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type {
  EndedCompletion,
  RecordedCompletion,
} from "../../../../src/gateway/recording/recorded-completion.ts";
import type { Recorder } from "../../../../src/gateway/recording/recorder.ts";
import { type Journal, openJournal } from "../../../../src/journal/journal.ts";
import { stringifyJson } from "../../../../src/shared/json.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import { until } from "../../../helpers/until.ts";
import { bare, ended, project, recorderOf, started, TestStore, turn } from "./test-store.ts";

const root = mkdtempSync(join(tmpdir(), "sumtree-recorder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dirs = 0;
const newDir = (): string => join(root, String(dirs++));

function openIn(dir: string, maxBytes = 64 * 1024 * 1024): Journal {
  return openJournal(dir, "store", { maxBytes, onFailure: () => undefined }).journal;
}

/** Copies the files as a kill leaves them. */
function killed(dir: string): string {
  const left = newDir();
  cpSync(dir, left, { recursive: true });
  return left;
}

/** Starts a process with what is left, and waits until all of it is recorded. */
async function restart(store: TestStore, dir: string): Promise<Recorder> {
  const journal = openIn(dir);
  const recorder = recorderOf(store, { journal });
  await turn();
  store.isAway = false;
  await until(() => recorder.counts().pending === 0);
  journal.close();
  return recorder;
}

const record = (recorder: Recorder, id: string, more: Partial<EndedCompletion> = {}): Promise<void> =>
  recorder.record(id, project, ended(id, more), { bytes: 100 });

const textOf = ({ callId, output }: RecordedCompletion): string => JSON.stringify([callId, output]);
const outputs = (store: TestStore): Record<string, unknown> =>
  Object.fromEntries([...store.calls].map(([id, { output }]) => [id, output]));

/** Random events of a process. */
const call = fc.nat(15);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ start: call }) },
  { weight: 5, arbitrary: fc.record({ record: call }) },
  { weight: 2, arbitrary: fc.constantFrom("away" as const, "back" as const, "wait" as const) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Plays events; returns the last output recorded of each call, which is null if it has only started. */
async function play(recorder: Recorder, store: TestStore, steps: readonly Step[]) {
  const last = new Map<string, { version: number } | null>();
  const records = new Map<string, number>();
  for (const [version, one] of steps.entries()) {
    if (one === "away" || one === "back") store.isAway = one === "away";
    else if (one === "wait") await turn();
    else if ("start" in one) {
      const id = `c${one.start}`;
      if (last.has(id)) continue;
      last.set(id, null);
      void recorder.start(id, project, () => started(id));
    } else {
      const id = `c${one.record}`;
      const nth = records.get(id) ?? 0;
      records.set(id, nth + 1);
      last.set(id, { version });
      const name = nth === 0 ? id : `${id}/${nth}`;
      void recorder.record(name, project, ended(id, { output: { version } }), { bytes: 100 });
    }
  }
  await turn();
  return last;
}

describe("a recorder with a journal", () => {
  it("records after a kill the last state of each call, once", async () => {
    const steps = fc.array(step, { maxLength: 40, size: "max" });
    const property = fc.asyncProperty(steps, fc.boolean(), fc.boolean(), async (script, isSmall, isAway) => {
      const dying = new TestStore();
      const dir = newDir();
      const journal = openIn(dir);
      const maxPendingCalls = isSmall ? 3 : 100;
      const last = await play(recorderOf(dying, { journal, maxPendingCalls }), dying, script);
      dying.isDead = true;
      const left = killed(dir);
      journal.close();

      const store = new TestStore(dying.calls);
      store.isAway = isAway;
      const recorder = await restart(store, left);
      expect(new Map(Object.entries(outputs(store)))).toEqual(last);
      for (const [id, { inputs, exception }] of store.calls) {
        expect(stringifyJson(inputs)).toBe(stringifyJson(ended(id).readInputs()));
        expect(exception).toBe(last.get(id) === null ? "killed" : null);
      }
      expect(new Set(store.written.map(textOf)).size).toBe(store.written.length);
      const cut = [...last.values()].filter((output) => output === null).length;
      const finished = store.written.length - cut;
      expect(recorder.counts()).toMatchObject({ dropped: 0, recovered: { cut, finished } });
      expect((await restart(store, left)).counts().recorded).toBe(0);
    });
    await fc.assert(property, { seed: chosenSeed(), numRuns: runs(20, 300) });
  });

  it("records what exceeds its memory from the journal, once the store is available", async () => {
    const store = new TestStore();
    store.isAway = true;
    const journal = openIn(newDir());
    const recorder = recorderOf(store, { journal, maxPendingCalls: 3 });
    const ids = Array.from({ length: 600 }, (_, at) => `c${at}`);
    await Promise.all(ids.map((id) => record(recorder, id)));
    expect(recorder.counts()).toMatchObject({ pending: 600, recorded: 0, dropped: 0 });
    store.isAway = false;
    await until(() => recorder.counts().pending === 0);
    expect(store.written.map(({ callId }) => callId).toSorted()).toEqual(ids.toSorted());
    const recovered = { finished: 0, cut: 0 };
    expect(recorder.counts()).toMatchObject({ recorded: 600, recovered, unjournaled: 0 });
    journal.close();
  });

  it("does not treat a stored completion as interrupted although the journal was full at its end", async () => {
    const store = new TestStore();
    const dir = newDir();
    const journal = openIn(dir, 64 * 1024);
    const dying = recorderOf(store, { journal: { ...journal, remove: () => undefined } });
    void dying.start("c", project, () => started("c"));
    await turn();
    while (journal.add([{ key: "other", text: "x".repeat(100) }]) !== undefined);
    await record(dying, "c");
    await until(() => store.calls.has("c"));
    expect(dying.counts().unjournaled).toBe(1);
    const recorder = await restart(store, killed(dir));
    journal.close();
    expect(outputs(store)).toEqual({ c: ended("c").output });
    expect(recorder.counts().recovered).toEqual({ finished: 0, cut: 0 });
  });

  it("records after a kill the counts of all that a full journal took, and the content of the first", async () => {
    const store = new TestStore();
    store.isAway = true;
    const dir = newDir();
    const journal = openIn(dir, 512 * 1024);
    const dying = recorderOf(store, { journal });
    const output = (id: string) => ({ ...(ended(id).output as object), text: "x".repeat(100_000) });
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const id of ids) await record(dying, id, { output: output(id) });
    expect(dying.counts().unjournaled).toBe(0);
    await restart(store, killed(dir));
    journal.close();
    expect([...store.calls.keys()]).toEqual(ids);
    expect(store.calls.get("a")!.output).toEqual(output("a"));
    expect(store.calls.get("h")).toMatchObject(bare("h"));
  });

  it("leaves completions that the store rejected before a stop to the next start", async () => {
    const store = new TestStore();
    store.isAway = true;
    const dir = newDir();
    const journal = openIn(dir);
    const stopped = recorderOf(store, { journal, maxPendingCalls: 3 });
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await record(stopped, id);
    await stopped.drain(50);
    expect(stopped.counts().dropped).toBe(0);
    journal.close();
    const recorder = await restart(store, dir);
    expect([...store.calls.keys()].toSorted()).toEqual(ids);
    expect(recorder.counts().recovered).toEqual({ finished: 5, cut: 0 });
  });

  const text = (as: "started" | "ended"): string =>
    JSON.stringify({ project, [as]: { ...started("c"), output: as } });
  const damages = [
    { what: "an end", texts: [text("started"), '{"project":"acme'], output: "started", dropped: 0 },
    { what: "a start", texts: ["[]]", text("ended")], output: "ended", dropped: 0 },
    { what: "all", texts: ["null", "{}"], output: undefined, dropped: 1 },
    { what: "a project", texts: [text("ended").replace("project", "?")], output: undefined, dropped: 1 },
  ];
  it.each(damages)("drops no more than is damaged: $what", async ({ texts, output, dropped }) => {
    const store = new TestStore();
    const dir = newDir();
    const journal = openIn(dir);
    journal.add(texts.map((one) => ({ key: "c", text: one })));
    journal.add([{ key: "good", text: text("ended").replaceAll('"c"', '"good"') }]);
    journal.close();
    const recorder = await restart(store, dir);
    expect(outputs(store)).toEqual({ ...(output && { c: output }), good: "ended" });
    expect(recorder.counts()).toMatchObject({ dropped, pending: 0 });
    expect(openIn(dir).orphaned).toEqual([]);
  });
});
