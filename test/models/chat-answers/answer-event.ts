import type { Json } from "./step.ts";

/** One event of a streamed answer. */
export interface AnswerEvent {
  chunk: Json;
  /** Adds the event to the expected completion. */
  readonly add: (choices: Map<number, Json>) => void;
  /** Bytes of text that the model wrote in it. */
  readonly wrote: number;
  /** The choice whose finish it tells. */
  readonly ends?: number;
  /** The only choice that it is about; absent if it is about none. */
  readonly choice?: number;
  error?: ToldError;
}

export interface ToldError {
  readonly message: string;
  /** Nothing of the answer follows it. */
  readonly ends: boolean;
  /** Members of the answer in one piece that tell it. */
  readonly members: Json;
  /** A whole response in place of the answer. */
  readonly replaces?: Json;
}
