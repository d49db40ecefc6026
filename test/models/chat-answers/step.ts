export type Json = Record<string, unknown>;

/** One delta of a streamed message, and what it adds to the message. */
export interface Step {
  readonly delta: Json;
  readonly add: (message: Json) => void;
  /** Bytes of text that the model wrote in it. */
  readonly wrote: number;
}

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Adds a piece to a text. */
export function join(target: Json, member: string, piece: string): void {
  target[member] = `${(target[member] as string | undefined) ?? ""}${piece}`;
}
