import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completeEvent, type CallEvent } from "../../src/calls/events/call-event.ts";
import type { UsageSource } from "../../src/calls/events/completion.ts";
import type { RequestReport } from "../../src/calls/events/request-report.ts";
import { createStorageKeyLookup } from "../../src/calls/storage-key/key-lookup.ts";
import { createCallWriter, type CallWriter } from "../../src/calls/write/call-writer.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import type { Project } from "../../src/shared/project.ts";
import { Interleaving } from "../helpers/interleave.ts";
import { runs } from "../helpers/runs.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";

const statements = new Interleaving(() => true);

let store: TestEngine;
let app: TestApp;
let alone: CallWriter;
let shared: readonly CallWriter[];
beforeAll(async () => {
  store = await startEngine();
  app = await startAppOn(store.engine);
  alone = writerOn(store.engine);
  shared = ([0, 1] as const).map((at) => writerOn(statements.engineOf(at, store.engine)));
});
afterAll(async () => {
  await app.close();
  await store.close();
});

function writerOn(engine: TestEngine["engine"]): CallWriter {
  const pending = new FairSemaphore({ capacity: 1e9 });
  return createCallWriter({ engine, lookup: createStorageKeyLookup(engine) }, { lingerMs: 0, pending });
}

/** A report as a test draws it: its request ids are `r0`, `r1`, …; it uses its own power of two of tokens. */
interface Draft {
  readonly requests: readonly number[];
  readonly rank: number;
  readonly trace: number;
  readonly hour: number;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  requests: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 2 }),
  rank: fc.nat(3),
  trace: fc.nat(2),
  hour: fc.nat(1),
});
const SOURCES: readonly UsageSource[] = ["estimate", "client", "client", "gateway"];

function eventOf({ requests, rank, trace, hour }: Draft, number: number): CallEvent {
  const startedAt = Date.UTC(2026, 5, 1, hour) * 1000 + number;
  const reports = requests.map((one): RequestReport => ({ request: `r${one}`, rank }));
  const summary = { usage: { m: { requests: 1, prompt_tokens: 2 ** number } } };
  const named = { id: `c${number}`, traceId: `t${trace}`, opName: "op", startedAt };
  const usageSource = SOURCES[rank]!;
  return completeEvent(named, { id: named.id, endedAt: startedAt + 1, summary, usageSource, reports });
}

/** The definition: a call counts unless one that is there reports one of its requests with a higher rank. */
function expectedTokens(drafts: readonly Draft[], isThere: (number: number) => boolean): number {
  const counts = (number: number): boolean =>
    !drafts.some(
      (other, at) =>
        isThere(at) &&
        other.rank > drafts[number]!.rank &&
        other.requests.some((one) => drafts[number]!.requests.includes(one)),
    );
  return drafts.reduce((sum, _, number) => sum + (isThere(number) && counts(number) ? 2 ** number : 0), 0);
}

async function storedTokens(project_id: string): Promise<readonly number[]> {
  const stats = await app.post("/usage/stats", { project_id, start: "2026-06-01", end: "2026-06-02" });
  const usage = await app.post("/trace/usage", { project_id, filter: { trace_roots_only: true } });
  const calls = Object.values<Record<string, { prompt_tokens: number }>>(usage.json().call_usage);
  const ofCalls = calls
    .flatMap((call) => Object.values(call))
    .reduce((sum, one) => sum + one.prompt_tokens, 0);
  return [stats.json().total.prompt_tokens, ofCalls];
}

let projects = 0;

it("in any order, in any batches, sent again and deleted: each request counts by its best reports", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(draft, { minLength: 1, maxLength: 7 }),
      fc.array(fc.nat(), { minLength: 14, maxLength: 14 }),
      fc.array(fc.nat(6), { maxLength: 3 }),
      async (drafts, draws, gone) => {
        const project_id = `acme/request-${projects++}`;
        const project = project_id as Project;
        // each at least once, some twice
        const order = [...drafts.keys(), ...draws.slice(0, 3).map((draw) => draw % drafts.length)].toSorted(
          (one, other) => (draws[one] ?? one) - (draws[other] ?? other),
        );
        for (let at = 0, size = 1; at < order.length; at += size) {
          size = 1 + (draws[at % draws.length]! % 3);
          await alone.write(
            project,
            order.slice(at, at + size).map((number) => eventOf(drafts[number]!, number)),
          );
        }
        expect(await storedTokens(project_id)).toEqual(both(expectedTokens(drafts, () => true)));
        const call_ids = gone.filter((number) => number < drafts.length).map((number) => `c${number}`);
        await app.post("/calls/delete", { project_id, call_ids });
        const isThere = (number: number): boolean => !gone.includes(number);
        expect(await storedTokens(project_id)).toEqual(both(expectedTokens(drafts, isThere)));
      },
    ),
    { numRuns: runs(8, 500) },
  );
});

it("written by two services at once, whatever order their statements come in", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(draft, fc.constantFrom(0, 1)), { minLength: 2, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 7, maxLength: 7 }),
      async (all, schedule) => {
        const project_id = `acme/request-${projects++}`;
        const project = project_id as Project;
        const drafts = all.map(([one]) => one);
        await statements.run(
          [0, 1].map((at) => async () => {
            const own = all.flatMap(([one, on], number) => (on === at ? [eventOf(one, number)] : []));
            await shared[at]!.write(project, own);
          }),
          schedule,
        );
        expect(await storedTokens(project_id)).toEqual(both(expectedTokens(drafts, () => true)));
      },
    ),
    { numRuns: runs(8, 500) },
  );
});

function both(tokens: number): readonly number[] {
  return [tokens, tokens];
}
