const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a header. Node reads headers as Latin-1; clients that send more than ASCII send UTF-8. */
export function headerText(value: string): string {
  if (!/[\u0080-\u00ff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
