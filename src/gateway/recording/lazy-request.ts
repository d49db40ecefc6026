import { unreadModelRequest, type ModelRequest } from "./model-request.ts";

type Facts = Omit<ModelRequest, "inputs" | "withIncludeUsage"> & { readonly hasInputs: boolean };

/** Inputs of larger bodies are parsed again when needed, to bound memory per open stream. */
const MAX_HELD_BYTES = 64 * 1024;

/** Model request, parsed on first use. */
export class LazyRequest {
  readonly #read: () => ModelRequest;
  #facts: Facts | undefined;
  #held: ModelRequest["inputs"];

  constructor(read: () => ModelRequest = () => unreadModelRequest(0)) {
    this.#read = read;
  }

  get facts(): Facts {
    if (this.#facts !== undefined) return this.#facts;
    const { inputs, withIncludeUsage: _, ...facts } = this.#read();
    if (facts.bytes <= MAX_HELD_BYTES) this.#held = inputs;
    return (this.#facts = { ...facts, hasInputs: inputs !== undefined });
  }

  /** Returns the inputs; `undefined` if unreadable or too large to store. */
  inputs(): ModelRequest["inputs"] {
    return this.facts.hasInputs ? (this.#held ?? this.#read().inputs) : undefined;
  }
}
