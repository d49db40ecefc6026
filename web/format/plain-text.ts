/** Controls, and marks that turn the direction of the text around them. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/** Text of a call with hidden characters made visible. Line ends and tabs stay, unless it has to be one line. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (hidden) =>
    hidden === "\r" ? "" : `⟨U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** A name on one line, shortened. */
export function oneLine(text: string, maxChars = 300): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return visible(cut.replaceAll(/[\r\n\t\u2028\u2029]+/g, " "));
}
