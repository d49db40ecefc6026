import { deleteTrace, sendSingle, sendTrace } from "./calls.ts";
import { complete, stream } from "./completions.ts";
import { askStatistics, giveFeedback } from "./feedback.ts";
import { askByQuery, askRoots, askTrace, readBack } from "./questions.ts";
import { hangUp, sendNonsense } from "./rude.ts";
import type { Operation } from "./soak.ts";
import { sendSpans } from "./spans.ts";

export type OperationName =
  | "trace of 20 calls"
  | "single call"
  | "spans of a trace"
  | "usage of a trace"
  | "usage of a trace with costs"
  | "usage by a query"
  | "usage of roots with costs"
  | "calls read back"
  | "feedback"
  | "feedback statistics"
  | "completion"
  | "streamed completion"
  | "bad request"
  | "hang-up"
  | "trace deleted";

export const operations: Readonly<Record<OperationName, Operation>> = {
  "trace of 20 calls": sendTrace,
  "single call": sendSingle,
  "spans of a trace": sendSpans,
  "usage of a trace": (soak) => askTrace(soak, { costs: false }),
  "usage of a trace with costs": (soak) => askTrace(soak, { costs: true }),
  "usage by a query": askByQuery,
  "usage of roots with costs": askRoots,
  "calls read back": readBack,
  feedback: giveFeedback,
  "feedback statistics": askStatistics,
  completion: complete,
  "streamed completion": stream,
  "bad request": sendNonsense,
  "hang-up": hangUp,
  "trace deleted": deleteTrace,
};
