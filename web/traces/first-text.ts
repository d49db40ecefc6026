import { oneLine } from "../format/plain-text.ts";

const STRING = String.raw`"((?:[^"\\]|\\.)*)`;
const CONTENT = new RegExp(
  String.raw`"(?:content|text|question|input|prompt|query|message)"\s*:\s*${STRING}`,
  "g",
);
const ANY = new RegExp(String.raw`:\s*${STRING}`);

/** First user text in the beginning of the inputs, which is JSON that may be cut. */
export function firstText(inputsStart: string | null): string {
  if (inputsStart === null) return "";
  const found = [...inputsStart.matchAll(CONTENT)].at(-1) ?? ANY.exec(inputsStart);
  return oneLine(unescaped(found?.[1] ?? ""), 160);
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"`) as string;
  } catch {
    return text;
  }
}
