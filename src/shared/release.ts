/**
 * Gives the memory of large arrays back at once; they are empty from then on. Left to the garbage collector, thirty megabytes
 * of them make it go through the whole heap (docs/decisions/0009). Arrays that share their memory with others stay as
 * they are.
 */
export function release(...arrays: readonly ArrayBufferView[]): void {
  for (const { buffer, byteLength } of arrays) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
  }
}
