import { costFields, tokenCostFields } from "../../../prices/cost-fields.ts";
import type { ByteWriter } from "../bytes/byte-writer.ts";

/** Costs printed per entry: those of tokens, or all. */
export type PrintedCosts = "tokens" | "all";

const NAMES = costFields.map(({ wire }) => `,"${wire}":`);
const BYTES = NAMES.map((name) => Buffer.from(name));
const COUNTS = { tokens: tokenCostFields.length, all: costFields.length };
const UNKNOWN = Buffer.from("null");

const IS_PARTIAL = Buffer.from(',"partial":true');
const IS_WHOLE = Buffer.from(',"partial":false');

/** Writes `partial`. */
export function writePartial(isPartial: boolean, writer: ByteWriter): void {
  writer.copy(isPartial ? IS_PARTIAL : IS_WHOLE);
}

/** Renders null costs, for responses without costs. */
export function withoutCosts(printed: PrintedCosts): string {
  return NAMES.slice(0, COUNTS[printed])
    .map((name) => `${name}null`)
    .join("");
}

/** Writes the costs of an entry as `,"prompt_tokens_total_cost":0.0012,…`. */
export function writeCosts(
  costs: Float64Array,
  at: number,
  { writer, printed }: { readonly writer: ByteWriter; readonly printed: PrintedCosts },
): void {
  for (let slot = 0; slot < COUNTS[printed]; slot++) {
    const cost = costs[at + slot]!;
    writer.copy(BYTES[slot]!);
    if (Number.isFinite(cost)) writer.dollars(cost);
    else writer.copy(UNKNOWN);
  }
}
