/** A key of two texts that no other two have, whatever characters they are made of. */
export function pairKey(first: string, second: string): string {
  return `${first.length}\n${first}${second}`;
}
