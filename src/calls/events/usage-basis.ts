/**
 * Basis of reading a call's usage: its producer, only the names of its attributes, or a guess, because its counts contradict
 * the meaning of these names.
 */
export const USAGE_BASES = ["producer", "words", "guess"] as const;
export type UsageBasis = (typeof USAGE_BASES)[number];

/** Interpretation of a call's usage; stored only as `attributes.otel.usage_basis`. */
export interface UsageReading {
  readonly basis: UsageBasis;
  /** Entry in the table of producers; `undefined` for an unknown producer. */
  readonly producer: string | undefined;
}
