import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { readListed } from "../../calls/read/store.ts";
import type { Payload, StoredCall } from "../../calls/read/stored-call.ts";
import { pacer } from "../../fairness/turns.ts";
import type { RatedCall } from "../../ratings/rated-calls.ts";
import type { RatingCondition } from "../../ratings/schema.ts";
import { pairKey } from "../../shared/pair-key.ts";
import { readExample, type Example } from "../chat/read-example.ts";
import type { Verdict } from "../reasons.ts";
import { readParents, readRatings, type PageReader } from "./page-facts.ts";

/** Selected call: an example, or why it is none. */
export interface Candidate {
  /** In the order of the selection, from 0. */
  readonly place: number;
  readonly key: CallRowKey;
  readonly threadId: string;
  readonly outcome: Example | Verdict;
  readonly rating: RatedCall | undefined;
}

export interface CandidateOptions extends PageReader {
  readonly only?: "roots" | "leaves" | "last_of_thread" | undefined;
  /** Reads the ratings of the calls. */
  readonly condition?: RatingCondition | undefined;
  /** True if no more lines are wanted: the rest is over the limit, and not read. */
  readonly isFull: () => boolean;
}

const PAYLOADS: ReadonlySet<Payload> = new Set(["inputs", "output", "attributes"]);

/** Reads selected calls in order, one candidate each. Throws `StorageError`. */
export async function* readCandidates(
  keys: Iterator<CallRowKey>,
  options: CandidateOptions,
): AsyncGenerator<Candidate> {
  const { isFull, ...reader } = options;
  const waiting: CallRowKey[] = [];
  const pause = pacer();
  let place = 0;
  const without = (key: CallRowKey, outcome: Verdict): Candidate => {
    return { place: place++, key, threadId: "", outcome, rating: undefined };
  };
  for await (const page of readListed(reader.engine, noted(keys, waiting), {
    ...reader,
    payloads: PAYLOADS,
  })) {
    const facts = await factsOf(page, options);
    let next = 0;
    for (const call of page) {
      while (!isOf(waiting[next]!, call)) yield without(waiting[next++]!, "changed");
      const key = waiting[next++]!;
      const [threadId, rating] = [call.thread_id, facts.ratings?.get(call.id)];
      const outcome = isFull() ? "over_limit" : (facts.reasonOf(call) ?? readExample(call));
      yield { place: place++, key, threadId, outcome, rating };
      const wait = pause();
      if (wait !== undefined) await wait;
    }
    waiting.splice(0, next);
    if (isFull()) break;
  }
  const rest = isFull() ? "over_limit" : "changed";
  for (const key of waiting) yield without(key, rest);
  for (let next = keys.next(); next.done !== true; next = keys.next()) yield without(next.value, rest);
}

/** Passes keys on, and notes them: calls deleted since the selection are not read. */
function* noted(keys: Iterator<CallRowKey>, waiting: CallRowKey[]): Generator<CallRowKey> {
  for (let next = keys.next(); next.done !== true; next = keys.next()) {
    waiting.push(next.value);
    yield next.value;
  }
}

function isOf({ id, traceId }: CallRowKey, call: StoredCall): boolean {
  return id === call.id && traceId === call.trace_id;
}

async function factsOf(page: readonly StoredCall[], { only, condition, ...reader }: CandidateOptions) {
  const parents = only === "leaves" ? await readParents(reader, page) : undefined;
  const ratings = condition === undefined ? undefined : await readRatings(reader, condition, page);
  const reasonOf = (call: StoredCall): Verdict | undefined => {
    if (only === "roots" && call.parent_id !== "") return "has_parent";
    return parents?.has(pairKey(call.trace_id, call.id)) === true ? "has_children" : undefined;
  };
  return { ratings, reasonOf };
}

/** Keeps the last example of each thread; calls without a thread stay. */
export async function* lastOfThreads(candidates: AsyncIterable<Candidate>): AsyncGenerator<Candidate> {
  let held: Candidate | undefined;
  for await (const candidate of candidates) {
    if (typeof candidate.outcome === "string") {
      yield candidate;
      continue;
    }
    const isSame = held !== undefined && candidate.threadId !== "" && held.threadId === candidate.threadId;
    if (held !== undefined) yield isSame ? { ...held, outcome: "not_last_of_thread" } : held;
    held = candidate;
  }
  if (held !== undefined) yield held;
}
