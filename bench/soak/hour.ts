import type { OperationName } from "./operations.ts";

/** How often each operation happens in a second of a busy afternoon: 55 calls, and questions about them. */
const PER_SECOND: Readonly<Record<OperationName, number>> = {
  "trace of 20 calls": 2,
  "single call": 3,
  "spans of a trace": 1,
  "usage of a trace": 1,
  "usage of a trace with costs": 1,
  "usage by a query": 0.2,
  "usage of roots with costs": 0.1,
  "calls read back": 0.5,
  feedback: 1,
  "feedback statistics": 0.2,
  completion: 1,
  "streamed completion": 1,
  "bad request": 0.5,
  "hang-up": 0.5,
  "trace deleted": 0.1,
};

const SECONDS = 3600;

export type Mix = ReadonlyMap<OperationName, number>;

/** The number of operations of each kind in a share of that hour; at least a few. */
export function shareOfHour(share: number): Mix {
  const entries = Object.entries(PER_SECOND) as [OperationName, number][];
  return new Map(entries.map(([name, rate]) => [name, Math.max(10, Math.round(rate * SECONDS * share))]));
}
