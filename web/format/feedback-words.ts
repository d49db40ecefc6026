/**
 * What a feedback says: a reaction is its emoji, a note its text, everything else a line for each value of the payload, under
 * its path, or the type of the feedback where the payload is one value.
 */
export function wordsOf(
  feedbackType: string,
  payload: object,
): readonly (readonly [name: string, text: string])[] {
  const { emoji, note } = payload as Readonly<Record<string, unknown>>;
  const [kind] = [feedbackType.split(".")[1]];
  if (kind === "reaction" && typeof emoji === "string") return [["", emoji]];
  if (kind === "note" && typeof note === "string") return [["", note]];
  const values = [...valuesIn(payload, "")];
  if (values.length === 0) return [[feedbackType, "without a value"]];
  if (values.length === 1) return [[feedbackType, values[0]![1]]];
  return values.map(([path, text]) => [`${feedbackType} ${path}`, text]);
}

const MAX_VALUES = 50;

function* valuesIn(
  value: unknown,
  path: string,
): Generator<readonly [path: string, text: string], undefined> {
  if (typeof value !== "object" || value === null) {
    yield [path, String(value)];
    return;
  }
  for (const [name, inner] of Object.entries(value).slice(0, MAX_VALUES))
    yield* valuesIn(inner, path === "" ? name : `${path}.${name}`);
}
