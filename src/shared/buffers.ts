/**
 * Releases the memory of large arrays immediately; they are empty afterwards. Left to the garbage collector, thirty megabytes
 * of them make it go through the whole heap. Arrays that share their memory with others stay as they are.
 */
export function release(...arrays: readonly ArrayBufferView[]): void {
  for (const { buffer, byteLength } of arrays) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
  }
}

/** Copies `from` into `into`, which is larger, and releases the memory of `from`. */
export function resize<Numbers extends Int32Array | Uint32Array | Float64Array | Uint8Array>(
  from: Numbers,
  into: Numbers,
): Numbers {
  into.set(from);
  release(from);
  return into;
}

/** The same bytes, for numbers of several bytes. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
