import { PER_USD } from "../../../prices/picodollars.ts";
import { type ByteWriter, MAX_TEMPLATES, type Template, templateOf } from "../bytes/byte-writer.ts";
import { tokenCostFields } from "../../../prices/cost-fields.ts";

/** What is printed of an entry's costs: the first ones, those of tokens. */
const COSTS = tokenCostFields.map(({ wire }) => wire);
const PRINTED = COSTS.length;

const MILLION = 1e6;
/** Four bits hold how a cost is written: with how many decimal places, none for zero, or as `null`. */
const SHAPE_BITS = 4;
const UNKNOWN = 13;

/** The text of costs that nobody asked for. */
export const WITHOUT_COSTS = COSTS.map((name) => `,"${name}":null`).join("");

/**
 * Writes `,"prompt_tokens_total_cost":0.0012,…`, the costs of an entry. Those below a dollar with as many decimal places
 * differ in digits alone: a copy, and digits over it.
 */
export class CostTexts {
  private readonly templates = new Map<number, Template>();
  /** Per cost, its millionths of a dollar, and the last digits without the zeros at their end. */
  private readonly millionths = new Int32Array(PRINTED);
  private readonly last = new Int32Array(PRINTED);

  write(costs: Float64Array, at: number, writer: ByteWriter): void {
    let shapes = 0;
    for (let slot = 0; slot < PRINTED; slot++) {
      const cost = costs[at + slot]!;
      if (cost >= PER_USD || cost !== Math.floor(cost)) {
        if (!Number.isNaN(cost)) return writeOneByOne(costs, at, writer);
        shapes = (shapes << SHAPE_BITS) | UNKNOWN;
      } else {
        shapes = (shapes << SHAPE_BITS) | this.split(cost, slot);
      }
    }
    const template = this.templates.get(shapes) ?? this.make(shapes);
    writer.copy(template.text);
    for (let slot = 0; slot < PRINTED; slot++) {
      const places = shapeOf(shapes, slot);
      if (places === 0 || places === UNKNOWN) continue;
      const end = template.fromEnd[slot]!;
      if (places > 6) writer.overwrite(end + places - 6, this.millionths[slot]!);
      writer.overwrite(end, this.last[slot]!);
    }
  }

  /** Keeps the digits of a cost, and returns how many decimal places they take. */
  private split(cost: number, slot: number): number {
    if (cost === 0) return 0;
    const millionths = Math.floor(cost / MILLION);
    const below = cost - millionths * MILLION;
    let last = (below === 0 ? millionths : below) | 0;
    let places = below === 0 ? 6 : 12;
    for (let tenth = (last / 10) | 0; tenth * 10 === last; tenth = (last / 10) | 0) {
      last = tenth;
      places--;
    }
    this.millionths[slot] = millionths;
    this.last[slot] = last;
    return places;
  }

  private make(shapes: number): Template {
    const template = templateOf(
      COSTS.map((name, slot) => `,"${name}":${numberOf(shapeOf(shapes, slot))}`),
      "",
    );
    if (this.templates.size < MAX_TEMPLATES) this.templates.set(shapes, template);
    return template;
  }
}

function shapeOf(shapes: number, slot: number): number {
  return (shapes >> ((PRINTED - 1 - slot) * SHAPE_BITS)) & ((1 << SHAPE_BITS) - 1);
}

function numberOf(shape: number): string {
  if (shape === UNKNOWN) return "null";
  return shape === 0 ? "0" : `0.${"0".repeat(shape)}`;
}

const beforeCost = COSTS.map((name) => Buffer.from(`,"${name}":`));
const unknown = Buffer.from("null");

function writeOneByOne(costs: Float64Array, at: number, writer: ByteWriter): void {
  for (let slot = 0; slot < PRINTED; slot++) {
    const cost = costs[at + slot]!;
    writer.copy(beforeCost[slot]!);
    if (Number.isFinite(cost)) writer.dollars(cost);
    else writer.copy(unknown);
  }
}
