/** Deeper keys keep their rest in one piece. */
const MAX_SEGMENTS = 32;

type Branch = Map<string, unknown>;

/**
 * Turns dotted keys into objects, and objects whose keys are 0, 1, 2, … into lists, so that `gen_ai.request.model` can
 * be asked for as a path. Where a key is both a value and the beginning of others, these keep their rest in one piece:
 * `a` and `a.b.c` become `{a, "a.b.c"}`.
 */
export function nest(attributes: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const root: Branch = new Map();
  // a value comes before the keys that it begins, whatever order they were sent in
  const sorted = [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [key, value] of sorted) place(root, key, value);
  return toObject(root);
}

function place(root: Branch, key: string, value: unknown): void {
  const parents = key.split(".", MAX_SEGMENTS).slice(0, -1);
  let branch = root;
  let at = 0;
  for (const segment of parents) {
    const below = branch.get(segment) ?? new Map<string, unknown>();
    if (!(below instanceof Map)) break;
    branch.set(segment, below);
    branch = below as Branch;
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
  return Object.fromEntries(Array.from(branch, ([key, below]) => [key, toValue(below)]));
}
