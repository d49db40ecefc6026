/** Maximum segments of a split key. */
const MAX_SEGMENTS = 32;

type Branch = Map<string, unknown>;

/**
 * Converts dotted keys to objects, and objects with keys 0, 1, 2, … to lists, so that queries can use
 * `gen_ai.request.model` as a path. If a key is also the beginning of others, those are not split: `a` and `a.b.c` become
 * `{a, "a.b.c"}`.
 */
export function unflatten(attributes: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const root: Branch = new Map();
  // insert a key before the longer ones that begin with it
  const sorted = [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [key, value] of sorted) insertAt(root, key, value);
  return toObject(root);
}

function insertAt(root: Branch, key: string, value: unknown): void {
  const parents = key.split(".", MAX_SEGMENTS).slice(0, -1);
  let branch = root;
  let at = 0;
  for (const segment of parents) {
    const child = branch.get(segment) ?? new Map<string, unknown>();
    if (!(child instanceof Map)) break;
    branch.set(segment, child);
    branch = child as Branch;
    at += segment.length + 1;
  }
  branch.set(key.slice(at), value);
}

function toValue(node: unknown): unknown {
  if (!(node instanceof Map)) return node;
  const branch = node as Branch;
  const isList = branch.has("0") && [...branch.keys()].every((_, index) => branch.has(String(index)));
  return isList ? Array.from(branch, (_, index) => toValue(branch.get(String(index)))) : toObject(branch);
}

function toObject(branch: Branch): Record<string, unknown> {
  return Object.fromEntries(Array.from(branch, ([key, child]) => [key, toValue(child)]));
}
