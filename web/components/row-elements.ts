/**
 * Which element of the document shows which row. A row that stays in sight keeps its element; those that come take the elements of
 * those that left, in document order: the fewer elements move, the less layout there is.
 */
export function elementsFor(
  indexes: readonly number[],
  before: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const staying = new Set(indexes);
  const free = [...before].flatMap(([index, element]) => (staying.has(index) ? [] : [element]));
  let fresh = Math.max(-1, ...before.values()) + 1;
  return new Map(indexes.map((index) => [index, before.get(index) ?? free.shift() ?? fresh++]));
}
