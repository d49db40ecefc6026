const REF = /^weave:\/\/\/\S/;
/** More references than this in one payload are not indexed. */
const MAX_REFS = 1000;

/** Every string value of a payload that is a reference (`weave:///…`), each once, in order of appearance. */
export function collectRefs(payload: unknown): readonly string[] {
  const refs = new Set<string>();
  const visit = (node: unknown): void => {
    if (refs.size >= MAX_REFS) return;
    if (typeof node === "string") {
      if (REF.test(node)) refs.add(node.toWellFormed());
    } else if (typeof node === "object" && node !== null) {
      for (const child of Object.values(node)) visit(child);
    }
  };
  visit(payload);
  return [...refs];
}
