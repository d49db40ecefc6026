/** Search pattern for text in stored JSON. */
export interface TextPattern {
  /** Longest run of ASCII letters and digits, part of all spellings; may be empty. */
  readonly word: string;
  /** RE2 pattern; undefined if `word` is the whole text. */
  readonly pattern: string | undefined;
}

const BACKSLASHES = "\\\\+";

/**
 * A text as it may stand in JSON, in JSON within JSON, and so on: with the characters that producers escape, written in any of
 * the usual ways, in either case; composed or decomposed. White space stands for any white space.
 */
export function textPattern(text: string): TextPattern {
  const runs = text.match(/[a-z0-9]+/gi) ?? [];
  const word = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
  if (word === text) return { word, pattern: undefined };
  const forms = [...new Set([text, text.normalize("NFC"), text.normalize("NFD")])];
  const isEqualInAll = forms.every((form) => form.includes(word));
  return { word: isEqualInAll ? word : "", pattern: `(?i)(?:${forms.map(spellings).join("|")})` };
}

function spellings(text: string): string {
  return text
    .split(/(\s+)/)
    .filter((chunk) => chunk !== "")
    .map((chunk) =>
      /^\s+$/.test(chunk) ? `(?:\\s|${BACKSLASHES}[nrtf])+` : Array.from(chunk, spellingsOf).join(""),
    )
    .join("");
}

function spellingsOf(character: string): string {
  if (/[a-z0-9]/i.test(character)) return character;
  if (character === "\\") return BACKSLASHES;
  if (character === '"' || character === "/") return `(?:\\\\*${character}|${escaped(character)})`;
  const forms = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
  return `(?:${forms.flatMap((form) => [literal(form), escaped(form)]).join("|")})`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Each of its UTF-16 code units as `\u00e9`. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    const hex = text.charCodeAt(at).toString(16).padStart(4, "0");
    return `${BACKSLASHES}u${hex}`;
  }).join("");
}
