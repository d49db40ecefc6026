/**
 * Returns the first byte, and its offset, that is neither white space nor byte order mark; `undefined` if there is none
 * yet.
 */
export function firstByte(bytes: Buffer): { readonly byte: number; readonly at: number } | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return at === -1 ? undefined : { byte: bytes[at]!, at };
}

/** True if the first byte begins a JSON object, whatever the content type. */
export function isObject(byte: number): boolean {
  return byte === 0x7b;
}
