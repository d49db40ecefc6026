/** The first byte that is neither white space nor of a byte order mark, and where it is; undefined if there is none yet. */
export function firstByte(bytes: Buffer): { readonly byte: number; readonly at: number } | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return at === -1 ? undefined : { byte: bytes[at]!, at };
}

/** Whether a response that begins so is a JSON object, whatever type its headers name. */
export function isObject(byte: number): boolean {
  return byte === 0x7b;
}
