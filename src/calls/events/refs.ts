const REF = /^weave:\/\/\/\S/;

/** Collects the distinct references (`weave:///…`) among a payload's string values, in order of appearance. */
export function collectRefs(payload: unknown): readonly string[] {
  const refs = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node === "string") {
      if (REF.test(node)) refs.add(node.toWellFormed());
    } else if (typeof node === "object" && node !== null) {
      for (const child of Object.values(node)) visit(child);
    }
  };
  visit(payload);
  return [...refs];
}

/** Encodes the references of a payload as a JSON list, '' for none. */
export function refsText(payload: unknown): string {
  const refs = collectRefs(payload);
  return refs.length === 0 ? "" : JSON.stringify(refs);
}
