const MAX_SUGGESTIONS = 3;
/** Longer than any known name, so not worth comparing. */
const MAX_COMPARED = 64;

/** The known names closest to an unknown one, best first; none if nothing is close. */
export function nearestNames(written: string, known: Iterable<string>): readonly string[] {
  if (written.length > MAX_COMPARED) return [];
  return [...known]
    .map((name) => ({ name, distance: editDistance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, name.length / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** ` Did you mean x, y or z?`, or nothing. */
export function didYouMean(written: string, known: Iterable<string>): string {
  const names = nearestNames(written, known);
  return names.length === 0 ? "" : ` Did you mean ${names.join(" or ")}?`;
}

/** The number of characters to insert, delete or replace (Levenshtein, two rows). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
