/** Cuts bytes into chunks at the given places, taken modulo their length. */
export function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  const edges = [0, ...cuts, bytes.length];
  return edges.slice(1).map((to, at) => bytes.subarray(edges[at], to));
}
