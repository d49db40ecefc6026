import { release } from "../shared/release.ts";

/** `into`, which is larger, with what stands in `from`, which is let go. */
export function grown<Numbers extends Int32Array | Uint32Array | Float64Array | Uint8Array>(
  from: Numbers,
  into: Numbers,
): Numbers {
  into.set(from);
  release(from);
  return into;
}
