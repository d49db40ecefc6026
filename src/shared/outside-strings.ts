/** Rewrites the parts of a JSON text outside its strings. Returns a text with an unclosed string unchanged. Cost: linear. */
export function outsideStrings(text: string, rewrite: (piece: string) => string): string {
  let rewritten = "";
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return rewritten + rewrite(text.slice(at));
    const end = endOfString(text, quote);
    if (end === -1) return text;
    rewritten += rewrite(text.slice(at, quote)) + text.slice(quote, end);
    at = end;
  }
  return rewritten;
}

/** Returns the index after the closing quote of a string; -1 if it is not closed. */
export function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}
