import type { SeededRandom } from "../../helpers/seeded-random.ts";

/** Draws of a random answer. */
export interface Draw {
  readonly random: SeededRandom;
  chance(probability: number): boolean;
  /** From 0 to `most`. */
  upTo(most: number): number;
  pick<T>(...from: readonly T[]): T;
  text(): string;
  id(prefix: string): string;
  /** A text in pieces, some of them empty; never cut within a character. */
  pieces(text: string): string[];
}

const WORDS = [
  "every",
  " call",
  " tells",
  ' "what"',
  " it\n",
  " naïve",
  " 🌲🌲",
  " \\u00e9",
  " {}",
  " }{",
  " []",
  "0",
];

export function drawFrom(random: SeededRandom): Draw {
  const upTo = (most: number): number => Math.floor(random.next() * (most + 1));
  const chance = (probability: number): boolean => random.next() < probability;
  const pick = <T>(...from: readonly T[]): T => from[upTo(from.length - 1)]!;
  return {
    random,
    chance,
    upTo,
    pick,
    text: () => Array.from({ length: 1 + upTo(6) }, () => pick(...WORDS)).join(""),
    id: (prefix) => `${prefix}${Math.floor(random.next() * 2 ** 50).toString(36)}`,
    pieces(text) {
      const letters = Array.from(text);
      const pieces: string[] = chance(0.2) ? [""] : [];
      while (letters.length > 0) pieces.push(letters.splice(0, 1 + upTo(8)).join(""));
      return pieces;
    },
  };
}
