import type { SeededRandom } from "../../test/helpers/seeded-random.ts";
import type { SoakClient } from "./client.ts";
import type { Expected } from "./expected.ts";

/** A run: who asks, what is expected of the answers, and what chance decides. */
export interface Soak {
  readonly client: SoakClient;
  readonly expected: Expected;
  readonly random: SeededRandom;
}

/** One operation. `n` is its number, and makes its ids. Errors: an answer that is wrong. */
export type Operation = (soak: Soak, n: number) => Promise<void>;
