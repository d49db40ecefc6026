/** How many colours there are; what has none is grey. */
export const COLORS = 8;
export const OTHER = "--series-other";

/** The colours that names had since the page was opened. */
const kept = new Map<string, number>();

/** A colour for each name, the accent for the first. It belongs to the name: it stays when the order, the window or the filter changes. */
export function colorsOf(names: readonly string[], known = kept): ReadonlyMap<string, string> {
  const taken = new Map<number, string>();
  // in an order that does not depend on rank
  const shown = names.slice(0, COLORS).toSorted();
  for (const name of shown) {
    const color = known.get(name);
    if (color !== undefined && !taken.has(color)) taken.set(color, name);
  }
  const [largest] = names;
  if (largest !== undefined && !known.has(largest) && !taken.has(0)) taken.set(0, largest);
  const placed = new Set(taken.values());
  for (const name of shown.filter((one) => !placed.has(one))) {
    let color = hashOf(name) % COLORS;
    while (taken.has(color)) color = (color + 1) % COLORS;
    taken.set(color, name);
  }
  for (const [color, name] of taken) if (!known.has(name)) known.set(name, color);
  return new Map([...taken].map(([color, name]) => [name, `--series-${color}`]));
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return hash >>> 0;
}
