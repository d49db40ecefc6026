import type { SeededRandom } from "../../test/helpers/seeded-random.ts";
import type { SoakClient } from "./client.ts";
import { deleteTrace, sendSingle, sendTrace } from "./calls.ts";
import { complete, stream } from "./completions.ts";
import { askStatistics, giveFeedback } from "./feedback.ts";
import type { Ledger } from "./ledger.ts";
import { askByQuery, askRoots, askTrace, readBack } from "./questions.ts";
import { hangUp, sendNonsense } from "./rude.ts";
import { sendSpans } from "./spans.ts";

export interface Soak {
  readonly client: SoakClient;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
}

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

/** One operation. `n` is its number, and makes its ids. Errors: an answer that is wrong. */
export type Operation = (soak: Soak, n: number) => Promise<void>;

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
