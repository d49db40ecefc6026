import { unreadModelRequest, type ModelRequest } from "./model-request.ts";

type Facts = Omit<ModelRequest, "inputs" | "asking"> & { readonly hasInputs: boolean };

/** Of many long streams at once, the bodies are kept as bytes alone. */
const MAX_HELD_BYTES = 64 * 1024;

/** The request of a completion, read when it is first asked for; large inputs are read again each time. */
export class LazyRequest {
  readonly #read: () => ModelRequest;
  #facts: Facts | undefined;
  #held: ModelRequest["inputs"];

  constructor(read: () => ModelRequest = () => unreadModelRequest(0)) {
    this.#read = read;
  }

  get facts(): Facts {
    if (this.#facts !== undefined) return this.#facts;
    const { inputs, asking: _, ...facts } = this.#read();
    if (facts.bytes <= MAX_HELD_BYTES) this.#held = inputs;
    return (this.#facts = { ...facts, hasInputs: inputs !== undefined });
  }

  /** Undefined: they cannot be read, or are too large to be stored. */
  inputs(): ModelRequest["inputs"] {
    return this.facts.hasInputs ? (this.#held ?? this.#read().inputs) : undefined;
  }
}
