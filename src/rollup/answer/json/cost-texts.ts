import { tokenCostFields } from "../../../prices/cost-fields.ts";
import type { ByteWriter } from "../bytes/byte-writer.ts";

/** What is printed of an entry's costs: the first ones, those of tokens. */
const NAMES = tokenCostFields.map(({ wire }) => `,"${wire}":`);
const BYTES = NAMES.map((name) => Buffer.from(name));
const UNKNOWN = Buffer.from("null");

/** The text of costs that nobody asked for. */
export const WITHOUT_COSTS = NAMES.map((name) => `${name}null`).join("");

/** Writes `,"prompt_tokens_total_cost":0.0012,…`, the costs of an entry. */
export function writeCosts(costs: Float64Array, at: number, writer: ByteWriter): void {
  for (const [slot, name] of BYTES.entries()) {
    const cost = costs[at + slot]!;
    writer.copy(name);
    if (Number.isFinite(cost)) writer.dollars(cost);
    else writer.copy(UNKNOWN);
  }
}
