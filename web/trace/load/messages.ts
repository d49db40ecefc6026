import type { Caller } from "../../api/ask.ts";
import type { Failure } from "../../api/failure.ts";
import type { CallTree } from "../columns/call-tree.ts";
import type { UsageColumns } from "../columns/usage-columns.ts";
import type { TraceQuestions } from "./trace-questions.ts";

/** What a worker is started for. */
export interface TraceTask {
  readonly questions: TraceQuestions;
  readonly caller: Caller;
}

/** What it says, in this order; the last is `used` or `failed`. */
export type TraceNews =
  | { readonly kind: "progress"; readonly calls: number }
  | { readonly kind: "tree"; readonly tree: CallTree }
  | { readonly kind: "used"; readonly used: UsedByCalls }
  | { readonly kind: "failed"; readonly failure: Failure };

/** What the calls of a trace used. */
export interface UsedByCalls {
  /** With everything below. */
  readonly total: UsageColumns;
  /** Of each call alone. */
  readonly own: UsageColumns;
  /** 1: `total` and `own` are not complete, because the call or something below it still runs. */
  readonly unfinished: Uint8Array<ArrayBuffer>;
  /** The trace has more calls than are added up. */
  readonly truncated: boolean;
}
