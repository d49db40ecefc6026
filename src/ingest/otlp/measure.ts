import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Each level of an attribute's value takes up to three messages. The decoder's own bound is the same. */
const MAX_DEPTH = 100;

/**
 * Counts the messages and list items that encoded bytes would decode to, without building them; stops at `limit`. An
 * empty message of two bytes takes hundreds in memory, so count before decoding. Errors: throws if the bytes are
 * malformed, or nested too deep. Cost: O(bytes), no memory.
 */
export function countItems(desc: DescMessage, bytes: Uint8Array, limit: number): number {
  return countIn(desc, { reader: new BinaryReader(bytes), limit, depth: 0 }, bytes.length);
}

interface Counting {
  readonly reader: BinaryReader;
  readonly limit: number;
  readonly depth: number;
}

function countIn(desc: DescMessage, counting: Counting, end: number): number {
  const { reader, limit, depth } = counting;
  if (depth > MAX_DEPTH) throw new RangeError("nested too deep");
  let count = 0;
  while (reader.pos < end && count < limit) {
    const [number, wireType] = reader.tag();
    const field = desc.fields.find((one) => one.number === number);
    if (
      wireType !== WireType.LengthDelimited ||
      (field?.message === undefined && field?.fieldKind !== "list")
    ) {
      reader.skip(wireType, number);
      continue;
    }
    const length = reader.uint32();
    const itemEnd = reader.pos + length;
    if (itemEnd > end) throw new RangeError("an item is longer than its message");
    count += 1;
    if (field.message !== undefined) {
      count += countIn(field.message, { reader, limit: limit - count, depth: depth + 1 }, itemEnd);
    }
    reader.pos = itemEnd;
  }
  return count;
}
