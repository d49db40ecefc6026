import { parseJsonText } from "../shared/escaped-keys.ts";
import type { Entry } from "./entries.ts";
import { SUMMED } from "./quarters.ts";

const NAMES = [
  "at",
  ...SUMMED,
  "shape",
  "input_min",
  "input_max",
  "llm",
  "provider",
  "tier",
  "detail",
] as const satisfies readonly (keyof Entry)[];

/** What the calls of a quarter of an hour used of one LLM. */
export type QuarterEntry = Readonly<Pick<Entry, (typeof NAMES)[number]>>;

/** Entries as one text, which does not depend on their order. */
export function packQuarters(entries: readonly QuarterEntry[]): string {
  const texts = entries.map((entry) => JSON.stringify(NAMES.map((name) => entry[name])));
  return `[${texts.sort().join(",")}]`;
}

export function unpackQuarters(text: string): readonly QuarterEntry[] {
  const rows = parseJsonText(text) as readonly (readonly unknown[])[];
  return rows.map(
    (values) =>
      Object.fromEntries(NAMES.map((name, place) => [name, values[place]])) as unknown as QuarterEntry,
  );
}
