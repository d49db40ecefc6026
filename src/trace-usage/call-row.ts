import type { Inclusive } from "../calls/call-part.ts";
import type { Usage } from "../calls/usage.ts";

/** What the roll-up needs of a call, and nothing more. */
export interface CallRow {
  readonly traceId: string;
  readonly id: string;
  /** '' for none. */
  readonly parentId: string;
  readonly finished: boolean;
  readonly inclusive: Inclusive;
  readonly selected: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly usage: readonly Usage[];
}
