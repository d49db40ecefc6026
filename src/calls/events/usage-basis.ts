/**
 * Why a call's usage is read as it is: its producer is known, only the names of its attributes are, or its counts contradict
 * what these names mean, so that their meaning is a guess.
 */
export const USAGE_BASES = ["producer", "words", "guess"] as const;
export type UsageBasis = (typeof USAGE_BASES)[number];

/** How the usage of a call was read. It is not stored: `attributes.otel.usage_basis` is. */
export interface UsageReading {
  readonly basis: UsageBasis;
  /** The producer in the table of producers; undefined for one that is not in it. */
  readonly producer: string | undefined;
}
