/** Something that a project has set and that holds from a date on. */
export interface Dated {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly effectiveAtMs: number;
  readonly createdAtMs: number;
}

/** An order in which the last one that has begun holds: the one with the latest date; of the same date, the one set last. */
export function byPrecedence(left: Dated, right: Dated): number {
  return (
    left.effectiveAtMs - right.effectiveAtMs ||
    left.createdAtMs - right.createdAtMs ||
    (left.id < right.id ? -1 : 1)
  );
}
