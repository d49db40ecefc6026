import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { StoredCall } from "./stored-call.ts";

/** The feedback about some references, as JSON. Undefined: too much to read at once. */
export type FeedbackOf = (
  project: Project,
  question: { readonly refs: readonly string[]; readonly signal: AbortSignal },
) => Promise<ReadonlyMap<string, readonly string[]> | undefined>;

export interface CallAndFeedback {
  readonly call: StoredCall;
  /** Undefined: not requested. */
  readonly feedback: readonly string[] | undefined;
}

export interface FeedbackReading {
  readonly project: Project;
  readonly signal: AbortSignal;
  /** Undefined: feedback is not requested. */
  readonly feedbackOf: FeedbackOf | undefined;
}

/** Pages of calls with their feedback, in parts if it is too much for a page. Errors: payload_too_large, for one call. */
export async function* callsWithFeedback(
  pages: AsyncIterable<readonly StoredCall[]>,
  reading: FeedbackReading,
): AsyncGenerator<readonly CallAndFeedback[]> {
  for await (const page of pages) yield* eventsOf(page, reading);
}

async function* eventsOf(
  calls: readonly StoredCall[],
  reading: FeedbackReading,
): AsyncGenerator<readonly CallAndFeedback[]> {
  const { project, signal, feedbackOf } = reading;
  if (feedbackOf === undefined || calls.length === 0) {
    yield calls.map((call) => ({ call, feedback: undefined }));
    return;
  }
  const refOf = ({ id }: StoredCall): string => `weave:///${project}/call/${id}`;
  const found = await feedbackOf(project, { refs: calls.map(refOf), signal });
  if (found !== undefined) {
    yield calls.map((call) => ({ call, feedback: found.get(refOf(call)) ?? [] }));
    return;
  }
  if (calls.length === 1) throw tooMuch();
  const half = Math.ceil(calls.length / 2);
  yield* eventsOf(calls.slice(0, half), reading);
  yield* eventsOf(calls.slice(half), reading);
}

function tooMuch(): AppError {
  return new AppError(
    "payload_too_large",
    "A call has too much feedback to be read with it: ask POST /feedback/query for it.",
  );
}
