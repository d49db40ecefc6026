/** The parts of a dotted field name; `\.` is a dot inside a part. */
export function splitFieldName(name: string): readonly [head: string, ...steps: string[]] {
  const [head = "", ...steps] = name.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
  return [head, ...steps];
}
