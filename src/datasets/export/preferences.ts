import { hash } from "node:crypto";
import type { CallRowKey } from "../../calls/read/call-keys.ts";
import type { Example } from "../chat/read-example.ts";
import { readCandidates, type Candidate, type CandidateOptions } from "../select/read-candidates.ts";
import type { Outcome } from "./manifest-writer.ts";

type Call = Outcome["calls"][number];
interface Pair {
  readonly chosen: Call;
  readonly rejected: Call;
}

/** Answers to one prompt that wait for a counterpart: all of them passing, or all failing. */
interface Waiting {
  readonly passed: boolean;
  readonly calls: Call[];
  /** Number of `calls` that have a counterpart. */
  paired: number;
}

/**
 * Pairs calls with one prompt: the k-th passing with the k-th failing, in the order of the selection. Reads the candidates for
 * their prompts first and then the pairs again, so that only hashes and keys are held.
 */
export async function* preferenceLines(
  candidates: AsyncIterable<Candidate>,
  options: CandidateOptions,
): AsyncGenerator<Outcome> {
  const waiting = new Map<string, Waiting>();
  const pairs: Pair[] = [];
  for await (const { place, key, outcome, rating } of candidates) {
    const call = { place, key };
    if (typeof outcome === "string") yield { calls: [call], result: outcome };
    else if (rating === undefined) yield { calls: [call], result: "changed" };
    else {
      const other = counterpart(waiting, { prompt: promptOf(outcome), call, passed: rating.passed === 1 });
      if (other !== undefined)
        pairs.push(
          rating.passed === 1 ? { chosen: call, rejected: other } : { chosen: other, rejected: call },
        );
    }
  }
  for (const { calls, paired } of waiting.values())
    for (const call of calls.slice(paired)) yield { calls: [call], result: "no_counterpart" };
  waiting.clear();
  yield* pairLines(
    pairs.toSorted((a, b) => a.chosen.place - b.chosen.place),
    options,
  );
}

function promptOf({ messages, tools }: Example): string {
  return JSON.stringify([messages, tools]);
}

/** Takes the first answer to the prompt that passed where this one failed, or failed where it passed; else this one waits. */
function counterpart(
  waiting: Map<string, Waiting>,
  { prompt, call, passed }: { readonly prompt: string; readonly call: Call; readonly passed: boolean },
): Call | undefined {
  const digest = hash("sha256", prompt, "binary");
  const same = waiting.get(digest);
  if (same === undefined || same.paired === same.calls.length) {
    waiting.set(digest, { passed, calls: [call], paired: 0 });
    return undefined;
  }
  if (same.passed !== passed) return same.calls[same.paired++];
  same.calls.push(call);
  return undefined;
}

/** Reads the calls of pairs again: a candidate for each, also for those that were deleted since. */
async function* pairLines(pairs: readonly Pair[], options: CandidateOptions): AsyncGenerator<Outcome> {
  const { only: _only, condition: _condition, ...reader } = options;
  const left = pairs.values();
  let first: Candidate["outcome"] | undefined;
  for await (const { outcome } of readCandidates(keysOf(pairs), reader)) {
    if (first === undefined) {
      first = outcome;
      continue;
    }
    const { chosen, rejected } = left.next().value!;
    yield { calls: [chosen, rejected], result: resultOf(first, outcome) };
    first = undefined;
  }
}

function* keysOf(pairs: readonly Pair[]): Generator<CallRowKey> {
  for (const { chosen, rejected } of pairs) {
    yield chosen.key;
    yield rejected.key;
  }
}

function resultOf(chosen: Candidate["outcome"], rejected: Candidate["outcome"]): Outcome["result"] {
  if (chosen === "over_limit" || rejected === "over_limit") return "over_limit";
  if (typeof chosen === "string" || typeof rejected === "string") return "changed";
  if (promptOf(chosen) !== promptOf(rejected)) return "changed";
  const { messages: prompt, tools } = chosen;
  if (JSON.stringify(chosen.answer) === JSON.stringify(rejected.answer)) return "same_answer";
  const answers = { chosen: [chosen.answer], rejected: [rejected.answer] };
  return { line: JSON.stringify({ prompt, ...answers, ...(tools !== undefined && { tools }) }) };
}
