import { isJsonObject } from "../../shared/json.ts";
import { errorOfChoice } from "./error-in-response.ts";

/** With more choices, they are not tracked separately, and a stream needs its end marker. */
const MAX_CHOICES = 1024;

/** Which choices of a response have begun, and which of them have ended: with a finish reason, or with an error. */
export class ChoiceTracker {
  readonly #ended = new Map<number, boolean>();

  /** Something has begun, and everything that has begun has ended. */
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
