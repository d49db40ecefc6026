/** Format of a response by its first byte: a JSON object or list, an event stream, or another one. */
export type Form = "object" | "list" | "events" | "other";

/** First letters of `data`, `event`, `id`, `retry` and comments. */
const OF_EVENTS = "deir:";

/** Finds the first byte that is neither white space nor byte order mark; `undefined` if there is none yet. */
export function firstByte(bytes: Buffer): { readonly form: Form; readonly at: number } | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  if (at === -1) return undefined;
  const first = String.fromCharCode(bytes[at]!);
  if (first === "{" || first === "[") return { form: first === "{" ? "object" : "list", at };
  return { form: OF_EVENTS.includes(first) ? "events" : "other", at };
}
