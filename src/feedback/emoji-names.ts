import byEmoji from "unicode-emoji-json" with { type: "json" };
import { withoutSkinTones } from "./emoji.ts";

interface Named {
  readonly name: string;
  readonly group: string;
}

const TONES: Readonly<Record<string, string>> = {
  "\u{1F3FB}": "light",
  "\u{1F3FC}": "medium-light",
  "\u{1F3FD}": "medium",
  "\u{1F3FE}": "medium-dark",
  "\u{1F3FF}": "dark",
};
const names = new Map(
  Object.entries<Named>(byEmoji).map(([emoji, named]) => [withoutSelector(emoji), nameOf(named)]),
);

/**
 * Returns the name of an emoji, such as `:thumbs_up_dark_skin_tone:`; `undefined` if it is not in the list. Source:
 * Unicode's names in the form of the Python package `emoji`, as in the Weave SDKs.
 */
export function aliasOf(emoji: string): string | undefined {
  const name = names.get(withoutSelector(withoutSkinTones(emoji)));
  if (name === undefined) return undefined;
  const tones = new Set(Array.from(emoji).flatMap((character) => TONES[character] ?? []));
  return `:${[name, ...[...tones].map((tone) => `${tone}_skin_tone`)].join("_")}:`;
}

/** Removes the variation selector for colour, which is optional. */
function withoutSelector(emoji: string): string {
  return emoji.replaceAll("\u{FE0F}", "");
}

function nameOf({ name, group }: Named): string {
  const shortName = group === "Flags" ? name.replace(/^flag /, "") : name;
  return shortName.replaceAll(" - ", "-").replaceAll(/[“”,]/g, "").replaceAll(" ", "_");
}
