import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { StoredCall } from "./stored-call.ts";

/** Reads the feedback on references, as JSON texts. `undefined` if it is too large to read at once. */
export type FeedbackOf = (
  project: Project,
  query: { readonly refs: readonly string[]; readonly signal: AbortSignal },
) => Promise<ReadonlyMap<string, readonly string[]> | undefined>;

export interface CallAndFeedback {
  readonly call: StoredCall;
  /** `undefined` if not requested. */
  readonly feedback: readonly string[] | undefined;
}

export interface FeedbackReading {
  readonly project: Project;
  readonly signal: AbortSignal;
  /** `undefined` if not requested. */
  readonly feedbackOf: FeedbackOf | undefined;
}

/** Adds feedback to pages of calls, splitting pages with too much. Throws `payload_too_large` if one call has too much. */
export async function* callsWithFeedback(
  pages: AsyncIterable<readonly StoredCall[]>,
  reading: FeedbackReading,
): AsyncGenerator<readonly CallAndFeedback[]> {
  for await (const page of pages) yield* addFeedback(page, reading);
}

async function* addFeedback(
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
  if (calls.length === 1)
    throw new AppError(
      "payload_too_large",
      "A call has too much feedback for include_feedback. Read it with POST /feedback/query.",
    );
  const half = Math.ceil(calls.length / 2);
  yield* addFeedback(calls.slice(0, half), reading);
  yield* addFeedback(calls.slice(half), reading);
}
