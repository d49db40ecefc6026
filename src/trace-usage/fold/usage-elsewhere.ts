import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { addUnits, lessUnits } from "../../usage/units.ts";
import { NONE } from "../table/call-table.ts";
import type { Forest } from "./forest.ts";
import type { Used } from "./used.ts";

/**
 * Usage in the subtree of each call that counts elsewhere, by LLM. No total includes it, but it explains what inclusive calls
 * above repeat.
 */
export class UsageElsewhere {
  readonly #sums = new Map<number, Map<number, Used>>();

  /** Adds the sums of a call's children to its own. */
  gather(call: number, { firstChild, nextSibling }: Pick<Forest, "firstChild" | "nextSibling">): void {
    for (let child = firstChild[call]!; child !== NONE; child = nextSibling[child]!)
      for (const [llm, used] of this.#sums.get(child) ?? []) this.add(call, llm, used);
  }

  add(call: number, llm: number, used: Used): void {
    let ofCall = this.#sums.get(call);
    if (ofCall === undefined) this.#sums.set(call, (ofCall = new Map()));
    const sum = ofCall.get(llm);
    if (sum === undefined) ofCall.set(llm, { counts: used.counts.slice(), units: used.units });
    else addTo(sum, used);
  }

  subtract(call: number, llm: number, used: Used): void {
    const sum = this.#sums.get(call)?.get(llm);
    if (sum !== undefined) lessen(sum, used);
  }

  of(call: number, llm: number): Used | undefined {
    return this.#sums.get(call)?.get(llm);
  }

  /** Adds the usage of all LLMs in the subtree of a call. */
  addAll(call: number, into: Used): void {
    for (const used of this.#sums.get(call)?.values() ?? []) addTo(into, used);
  }
}

function addTo(sum: Used, more: Used): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) sum.counts[slot]! += more.counts[slot]!;
  sum.units = addUnits(sum.units, more.units);
}

/** Subtracts usage, without negative results. */
export function lessen(from: Used, less: Used): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++)
    from.counts[slot] = Math.max(0, from.counts[slot]! - less.counts[slot]!);
  from.units = lessUnits(from.units, less.units);
}
