import type { Clock } from "../shared/clock.ts";
import type { BoundedReads } from "./bounded-reads.ts";
import { advance, courseOf, pathOf, type Advanced, type Answer } from "./course.ts";
import { stringifyJson } from "../shared/json.ts";
import type { Job } from "./job.ts";
import { checked, type FollowedJob, type JobKey, type JobStore } from "./job-store.ts";

/** Log of the service. */
export interface FollowerLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface FollowerDeps {
  readonly store: JobStore;
  readonly reads: BoundedReads;
  readonly clock: Clock;
  readonly steady: Clock;
  readonly log: FollowerLog;
  /** Name of this service among those on the store. */
  readonly service: string;
}

const LIST_EVERY_MS = 5000;
/** Age of a read after which a job is read again: by the service that did so last, and by others, should that be gone. */
export const OWN_DUE_MS = 10_000;
const OTHERS_DUE_MS = 20_000;

/** Follows jobs to their end. What it knows is in the store, so any service can go on. */
export function createFollower(deps: FollowerDeps): () => Promise<void> {
  const { store, reads, clock, steady, log, service } = deps;
  let queue: readonly JobKey[] = [];
  /** Ids of jobs of which there is more to read. */
  let unread: ReadonlySet<string> = new Set();
  let listedMs = Number.NEGATIVE_INFINITY;
  let isFailing = false;

  const isDue = ({ checked_at_ms: atMs, checked_by: by }: FollowedJob): boolean =>
    Math.abs(clock.now() - atMs) >= (by === service ? OWN_DUE_MS : OTHERS_DUE_MS);
  const report = (answers: readonly Answer[]): void => {
    const fails = answers.every((answer) => answer === undefined || isRefusal(answer));
    if (fails === isFailing) return;
    isFailing = fails;
    if (fails) log.warn("the training service cannot be read: jobs stay as they are");
    else log.info("the training service can be read again");
  };
  const step = async (job: Job, answering: Promise<Answer>): Promise<Advanced & { answer: Answer }> => {
    const answer = await answering;
    const { read, base, ...course } = courseOf(job);
    const needsBase = read === "checkpoints" && base === null;
    const known = needsBase
      ? { ...job, course: stringifyJson({ ...course, read, base: await store.stepBefore(job) }) }
      : job;
    return { ...advance(known, answer, clock.now()), answer };
  };

  /** Reads what is due, at most as much as may be read now. Call it once a second. */
  return async () => {
    if (reads.free === 0) return;
    if (steady.now() - listedMs >= LIST_EVERY_MS) {
      listedMs = steady.now();
      const waiting = new Set(queue.map(({ id }) => id));
      const due = (await store.followed(clock.now())).filter((one) => isDue(one) && !waiting.has(one.id));
      queue = [...queue, ...due];
    }
    const keys = queue.slice(0, reads.free);
    queue = queue.slice(keys.length);
    const jobs = (await store.find(keys)).filter((job) => unread.has(job.id) || isDue(job));
    const begun = jobs.flatMap((job) => {
      const answer = reads.begin(pathOf(job));
      return answer === undefined ? [] : [step(job, answer)];
    });
    if (begun.length === 0) return;
    const advanced = await Promise.all(begun);
    report(advanced.map(({ answer }) => answer));
    await store.replace(advanced.map(({ job }) => checked(job, clock.now(), service)));
    const ended = new Set(advanced.flatMap(({ isMore, job }) => (isMore ? [] : [job.id])));
    const more = advanced.flatMap(({ isMore, job }) => (isMore ? [job] : []));
    unread = new Set([...unread, ...more.map(({ id }) => id)].filter((id) => !ended.has(id)));
    // a long course does not keep others waiting
    queue = [...queue, ...more];
  };
}

/** True for a response about the reader, not about the job. */
function isRefusal(answer: Answer): boolean {
  if (answer === undefined || answer === "too_long") return false;
  const { status } = answer;
  return status >= 500 || [401, 403, 408, 429].includes(status);
}
