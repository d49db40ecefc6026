import { createHash } from "node:crypto";
import { HELD_OUT } from "../reasons.ts";
import type { Candidate } from "./read-candidates.ts";

/** Creates a test for the traces that a holdout keeps: a part of `holdout` of them, drawn by seed and trace id. */
export function createHoldout(holdout: number, seed: number): (traceId: string) => boolean {
  return (traceId) => {
    const drawn = createHash("sha256").update(`${seed} ${traceId}`).digest().readUIntBE(0, 6);
    return drawn < holdout * 2 ** 48;
  };
}

/** Holds out examples by their traces. */
export async function* withoutHeldOut(
  candidates: AsyncIterable<Candidate>,
  isHeldOut: (traceId: string) => boolean,
): AsyncGenerator<Candidate> {
  for await (const candidate of candidates) {
    const isExample = typeof candidate.outcome !== "string";
    yield isExample && isHeldOut(candidate.key.traceId) ? { ...candidate, outcome: HELD_OUT } : candidate;
  }
}
