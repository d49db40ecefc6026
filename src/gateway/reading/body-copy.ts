import { endOfValue } from "../../shared/json-members.ts";
import { outsideStrings } from "../../shared/outside-strings.ts";
import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import type { Json } from "../apis/draft.ts";

const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 64 * 1024;
const MAX_MATCHES = 16;

const USAGE = /"(usage|usageMetadata)"\s*:\s*(?=\{)/g;
const NAMED = /"(type|id|model|modelVersion)"\s*:\s*"([^"\\]{1,256})"/g;
/** Gemini names its response behind the content. */
const NAMED_LAST = /"(modelVersion|responseId|finishReason)"\s*:\s*"([^"\\]{1,256})"/g;

/** A copy of a body or of a large event: whole up to 4 MiB, otherwise its beginning and its end. */
export class BodyCopy {
  #parts: Buffer[] = [];
  #head: Buffer | undefined;
  #heldBytes = 0;

  get isWhole(): boolean {
    return this.#head === undefined;
  }

  push(part: Buffer): void {
    this.#parts.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes <= MAX_WHOLE_BYTES) return;
    const all = Buffer.concat(this.#parts);
    this.#head ??= Buffer.from(all.subarray(0, HEAD_BYTES));
    this.#parts = [Buffer.from(all.subarray(-TAIL_BYTES))];
    this.#heldBytes = TAIL_BYTES;
  }

  text(): string {
    return Buffer.concat(this.#parts)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  /**
   * Returns the usage of the response, if that is at its end, and the members that identify it. `levels`: how deep the response
   * may be in the text.
   */
  facts(levels: number): Json | undefined {
    const tail = this.text();
    const head = this.#head!.toString("latin1");
    const last = [...tail.matchAll(USAGE)]
      .slice(-MAX_MATCHES)
      .findLast(({ index }) => -levelAfter(tail.slice(index)) <= levels);
    if (last === undefined) return undefined;
    const from = last.index + last[0].length;
    const usage = parseOrUndefined(tail.slice(from, endOfValue(tail, from)));
    if (!isJsonObject(usage)) return undefined;
    const first = [...head.matchAll(NAMED)].filter(({ index }) => levelAfter(head.slice(0, index)) <= levels);
    const found = [...first, ...tail.matchAll(NAMED_LAST)];
    const named = found.map(([, name, text]) => [name, text]);
    return { ...Object.fromEntries(named.toReversed()), [last[1]!]: usage };
  }
}

/** Returns how many brackets a part of a JSON text opens more than it closes. */
function levelAfter(text: string): number {
  let level = 0;
  outsideStrings(text, (piece) => {
    for (const [mark] of piece.matchAll(/[[\]{}]/g)) level += mark === "[" || mark === "{" ? 1 : -1;
    return "";
  });
  return level;
}
