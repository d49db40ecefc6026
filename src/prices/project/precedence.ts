/** A setting of a project that takes effect at an instant. */
export interface Dated {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly effectiveAtUs: number;
  readonly createdAtMs: number;
}

/** Sorts settings so that the last one in effect applies: the one with the latest date, and of those the one set last. */
export function byPrecedence(left: Dated, right: Dated): number {
  return (
    left.effectiveAtUs - right.effectiveAtUs ||
    left.createdAtMs - right.createdAtMs ||
    (left.id < right.id ? -1 : 1)
  );
}
