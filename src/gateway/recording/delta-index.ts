import { isJsonObject } from "../../shared/json.ts";
import type { CapturedValue } from "./byte-budget.ts";
import { isStreamedText } from "./streamed-text.ts";

type Json = Readonly<Record<string, unknown>>;
type Members = ReadonlyMap<string, CapturedValue>;

/**
 * The index of the list item that a delta continues; -1 if a new one begins. Servers name an item by its
 * index, by its id, by both in every piece or in the first, or by neither: then a piece goes on with the last item.
 * Many send several items at index 0, and what contradicts the item there is another.
 */
export function deltaIndex(
  kept: readonly CapturedValue[],
  piece: Json,
  { name, isFirst }: { readonly name: string; readonly isFirst: boolean },
): number {
  const place = placeNamed(kept, piece) ?? (isFirst && hasText(piece) ? kept.length - 1 : -1);
  const item = kept[place];
  if (!(item instanceof Map)) return -1;
  const isOther = name === "tool_calls" ? beginsCall(item, piece) : contradicts(item, piece);
  return isOther ? -1 : place;
}

/** Items further back are not searched. */
const WINDOW = 128;

/** Undefined if the piece names no item; -1 if it names one that is not there. */
function placeNamed(kept: readonly CapturedValue[], { index, id, type }: Json): number | undefined {
  const hasIndex = typeof index === "number";
  if (!hasIndex && !isName(id)) return undefined;
  let byIndex = -1;
  for (let at = kept.length - 1; at >= Math.max(0, kept.length - WINDOW); at--) {
    const item = kept[at];
    if (!(item instanceof Map) || (hasIndex && item.get("index") !== index)) continue;
    if (isName(id) && item.get("id") === id) return at;
    const isOfType = !isName(type) || (item.get("type") ?? type) === type;
    if (hasIndex && isOfType && byIndex === -1) byIndex = at;
  }
  return byIndex;
}

/** A call's name comes in its first piece. Some servers repeat it, with the id; some send a new id with every piece. */
function beginsCall(item: Members, piece: Json): boolean {
  const [tool, next] = [toolOf((name) => item.get(name)), toolOf((name) => piece[name])];
  if (!isName(next.name) || !isName(tool.name)) return false;
  const id = item.get("id");
  if (isName(id) && isName(piece["id"])) return id !== piece["id"];
  return tool.name !== next.name || isCalledAgain(tool.arguments, next.arguments);
}

interface Tool {
  readonly name: unknown;
  /** As JSON; undefined for a custom tool, whose input may be anything. */
  readonly arguments: unknown;
}

function toolOf(member: (name: string) => unknown): Tool {
  const made = member("function") ?? member("custom");
  const of = (name: string): unknown =>
    made instanceof Map ? made.get(name) : isJsonObject(made) ? made[name] : undefined;
  return { name: of("name"), arguments: of("arguments") };
}

/** A tool that is named again is called again, unless its arguments are still going on. */
function isCalledAgain(before: unknown, more: unknown): boolean {
  if (typeof before !== "string" || typeof more !== "string") return true;
  return more.trimStart().startsWith("{") && before.trimEnd().endsWith("}");
}

/** Whether a piece contradicts a fact of the item. */
function contradicts(item: Members, piece: Json): boolean {
  return Object.entries(piece).some(([name, value]) => {
    const known = item.get(name);
    if (known == null || value == null || name === "index") return false;
    if (known instanceof Map && isJsonObject(value)) return contradicts(known, value);
    if (typeof known === "object" || typeof value === "object") return false;
    return !isStreamedText(name) && known !== "" && value !== "" && known !== value;
  });
}

/** Whether a piece has text that something before it could go on with. */
function hasText(piece: Json): boolean {
  return Object.entries(piece).some(
    ([name, value]) =>
      (isStreamedText(name) && (typeof value === "string" || Array.isArray(value))) ||
      (isJsonObject(value) && hasText(value)),
  );
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
