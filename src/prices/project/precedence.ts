/** A setting of a project that takes effect at an instant. */
export interface Dated {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly effectiveAtMs: number;
  readonly createdAtMs: number;
}

/** Sorts settings so that the last one in effect applies: the one with the latest date, and of those the one set last. */
export function byPrecedence(left: Dated, right: Dated): number {
  return (
    left.effectiveAtMs - right.effectiveAtMs ||
    left.createdAtMs - right.createdAtMs ||
    (left.id < right.id ? -1 : 1)
  );
}
