import { isJsonObject } from "../../shared/json.ts";
import { UNRECORDED } from "../stream/capture-rules.ts";
import { bytesOf, capture, nameBytes, type CapturedValue, type ByteBudget } from "./byte-budget.ts";
import { isStreamedText } from "./streamed-text.ts";
import { deltaIndex } from "./delta-index.ts";

type Json = Readonly<Record<string, unknown>>;
type Members = Map<string, CapturedValue>;

const MAX_DEPTH = 32;

/** Assembles stream deltas into the equivalent non-streamed message. */
export class Assembler {
  readonly #budget: ByteBudget;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Merges metadata: the last non-empty value wins, objects merge recursively, members in `skipped` are ignored. */
  update(kept: Members, facts: Json, skipped: ReadonlySet<string> = UNRECORDED, depth = MAX_DEPTH): void {
    for (const name of Object.keys(facts)) {
      const value = facts[name];
      const old = kept.get(name);
      if (old === value || skipped.has(name)) continue;
      if (old instanceof Map && isJsonObject(value) && depth > 0)
        this.update(old, value, UNRECORDED, depth - 1);
      else if (old === undefined || !isEmpty(value)) this.#replace(kept, name, value);
    }
  }

  /** Merges a delta: text is concatenated, lists grow, objects merge recursively; otherwise the last non-empty value wins. */
  extend(kept: Members, delta: Json, depth = MAX_DEPTH): void {
    for (const name of Object.keys(delta)) {
      const value = delta[name];
      const old = kept.get(name) ?? null;
      if (UNRECORDED.has(name)) continue;
      if (typeof value === "string" && typeof old === "string" && isStreamedText(name)) {
        if (this.#budget.reserveText(value, name)) kept.set(name, old + value);
      } else if (typeof value === "object" && value !== null) this.#extendWith(kept, name, { value, depth });
      else if (Array.isArray(old) && typeof value === "string" && isStreamedText(name)) {
        if (value !== "") this.#extendList(old, [{ type: "text", text: value }], { name, depth });
      } else if (old === null || (value !== old && !isEmpty(value))) this.#replace(kept, name, value);
    }
  }

  #extendWith(kept: Members, name: string, { value, depth }: { value: object; depth: number }): void {
    if (Array.isArray(value)) this.#extendList(this.#listAt(kept, name), value, { name, depth });
    else this.#extendObject(kept, name, { value: value as Json, depth });
  }

  #extendObject(kept: Members, name: string, { value, depth }: { value: Json; depth: number }): void {
    const old = kept.get(name);
    if (depth === 0) return this.#budget.markTruncated();
    if (old instanceof Map) return this.extend(old, value, depth - 1);
    this.#replace(kept, name, {});
    const fresh = kept.get(name);
    if (fresh instanceof Map) this.extend(fresh, value, depth - 1);
  }

  #extendList(
    kept: CapturedValue[],
    items: readonly unknown[],
    { name, depth }: { name: string; depth: number },
  ): void {
    if (depth === 0) return this.#budget.markTruncated();
    for (const [position, item] of items.entries()) {
      const index = isJsonObject(item) ? deltaIndex(kept, item, { name, isFirst: position === 0 }) : -1;
      const known = kept[index];
      if (known instanceof Map && isJsonObject(item)) this.extend(known, item, depth - 1);
      else this.#push(kept, item, { name, depth });
    }
  }

  #push(kept: CapturedValue[], item: unknown, { name, depth }: { name: string; depth: number }): void {
    const fresh = capture(isJsonObject(item) ? {} : item, this.#budget, name);
    if (fresh === undefined) return;
    kept.push(fresh);
    if (fresh instanceof Map && isJsonObject(item)) this.extend(fresh, item, depth - 1);
  }

  /** Returns the list of a member, converting existing text to its first item. */
  #listAt(kept: Members, name: string): CapturedValue[] {
    const old = kept.get(name);
    if (Array.isArray(old)) return old;
    this.#replace(kept, name, typeof old === "string" && old !== "" ? [{ type: "text", text: old }] : []);
    const list = kept.get(name);
    return Array.isArray(list) ? list : [];
  }

  #replace(kept: Members, name: string, value: unknown): void {
    const old = kept.get(name);
    if (old === value) return;
    const freed = old === undefined ? 0 : bytesOf(old);
    if (old === undefined && !this.#budget.reserve(nameBytes(name))) return;
    this.#budget.refund(freed);
    const fresh = capture(value, this.#budget, name);
    if (fresh !== undefined) kept.set(name, fresh);
    else if (old !== undefined) this.#budget.reserve(freed);
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "" || value === 0;
}
