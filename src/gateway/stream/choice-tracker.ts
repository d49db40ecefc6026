import { isJsonObject } from "../../shared/json.ts";
import { errorOfChoice } from "./error-in-response.ts";

/** More choices are not tracked, and the stream needs its end marker. */
const MAX_CHOICES = 1024;

/** Tracker of started and ended choices; a choice ends with a finish reason or an error. */
export class ChoiceTracker {
  readonly #ended = new Map<number, boolean>();

  /** True if at least one choice started and all started ones ended. */
  get all(): boolean {
    const { size } = this.#ended;
    return size > 0 && size < MAX_CHOICES && [...this.#ended.values()].every(Boolean);
  }

  read(choices: unknown): void {
    if (!Array.isArray(choices)) return;
    for (const [position, choice] of choices.entries()) {
      if (!isJsonObject(choice)) continue;
      const index = indexOfChoice(choice, position);
      if (hasEnded(choice)) this.#ended.set(index, true);
      else if (!this.#ended.has(index) && this.#ended.size < MAX_CHOICES) this.#ended.set(index, false);
    }
  }
}

export function indexOfChoice(choice: Readonly<Record<string, unknown>>, position: number): number {
  return typeof choice["index"] === "number" ? choice["index"] : position;
}

function hasEnded(choice: Readonly<Record<string, unknown>>): boolean {
  const { finish_reason: reason } = choice;
  return (typeof reason === "string" && reason !== "") || errorOfChoice(choice) !== undefined;
}
