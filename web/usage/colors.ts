/** How many colours there are; what has none is grey. */
export const COLORS = 8;
export const OTHER = "--series-other";

const KEPT = "sumtree.colors";
const MAX_KEPT = 500;

/** The colours that names had before, by hashes of them: they keep them when the page is opened again. */
function kept(): Map<number, number> {
  try {
    return new Map(JSON.parse(localStorage.getItem(KEPT) ?? "[]") as [number, number][]);
  } catch {
    return new Map();
  }
}

/** A colour for each name. It belongs to the name: it stays when the order, the window or the filter changes. */
export function colorsOf(names: readonly string[], known = kept()): ReadonlyMap<string, string> {
  const taken = new Map<number, string>();
  // in an order that does not depend on rank
  const shown = names.slice(0, COLORS).toSorted();
  for (const name of shown) {
    const color = known.get(hashOf(name));
    if (color !== undefined && !taken.has(color)) taken.set(color, name);
  }
  const placed = new Set(taken.values());
  const fresh = shown.filter((one) => !placed.has(one));
  for (const name of fresh) {
    const hash = hashOf(name);
    let color = hash % COLORS;
    while (taken.has(color)) color = (color + 1) % COLORS;
    taken.set(color, name);
    if (!known.has(hash)) known.set(hash, color);
  }
  if (fresh.length > 0 && typeof localStorage !== "undefined")
    localStorage.setItem(KEPT, JSON.stringify([...known].slice(-MAX_KEPT)));
  return new Map([...taken].map(([color, name]) => [name, `--series-${color}`]));
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return hash >>> 0;
}
