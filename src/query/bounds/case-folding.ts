/** Non-ASCII characters that Unicode's full case folding turns into text with ASCII letters, by this text. */
const FOLDED_INTO: Readonly<Record<string, string>> = {
  s: "ſ",
  k: "\u212a",
  ss: "ßẞ",
  ff: "ﬀ",
  fi: "ﬁ",
  fl: "ﬂ",
  ffi: "ﬃ",
  ffl: "ﬄ",
  st: "ﬅﬆ",
  "i\u0307": "İ",
  "\u02bcn": "ŉ",
  "j\u030c": "ǰ",
  "h\u0331": "ẖ",
  "t\u0308": "ẗ",
  "w\u030a": "ẘ",
  "y\u030a": "ẙ",
  "a\u02be": "ẚ",
};

/** Case folding changes ASCII letters alone in such text. The property is that of letters without case. */
// eslint-disable-next-line no-control-regex -- the ASCII range
const CASELESS_RUNS = /[\u0000-\u007f\p{Lo}]+/gu;

/** Longest run of ASCII characters and letters without case, in bytes; `undefined` if there is none. */
export function longestCaselessRun(text: string): string | undefined {
  return longest(text.match(CASELESS_RUNS) ?? []);
}

/** Longest text, in bytes of UTF-8. */
export function longest(texts: readonly string[]): string | undefined {
  return texts.toSorted((one, other) => Buffer.byteLength(other) - Buffer.byteLength(one))[0];
}

/**
 * Characters one of which a text without `run` must contain if its folded form contains `run`. `run`: as
 * `longestCaselessRun` returns it.
 */
export function charactersFoldedInto(run: string): readonly string[] {
  const folded = run.toLowerCase();
  return Object.entries(FOLDED_INTO).flatMap(([text, characters]) =>
    canOverlap(folded, text) ? Array.from(characters) : [],
  );
}

/** True if both texts agree on the characters they share in some position. */
function canOverlap(run: string, other: string): boolean {
  for (let at = 1 - other.length; at < run.length; at++) {
    const from = Math.max(at, 0);
    const to = Math.min(at + other.length, run.length);
    if (run.slice(from, to) === other.slice(from - at, to - at)) return true;
  }
  return false;
}
