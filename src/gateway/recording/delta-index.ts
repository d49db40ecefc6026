import { isJsonObject } from "../../shared/json.ts";
import type { CapturedValue } from "./byte-budget.ts";
import { isStreamedText } from "./streamed-text.ts";

type Json = Readonly<Record<string, unknown>>;
type Members = ReadonlyMap<string, CapturedValue>;

/**
 * Returns the index of the list item that a delta continues; -1 if it begins a new item. Servers identify items by index,
 * by id, by both, or only in the first delta; a delta with neither continues the last item. Many servers send several items
 * at index 0, so a delta that contradicts the item there begins another.
 */
export function deltaIndex(
  kept: readonly CapturedValue[],
  delta: Json,
  { name, isFirst }: { readonly name: string; readonly isFirst: boolean },
): number {
  const at = indexNamed(kept, delta) ?? (isFirst && hasText(delta) ? kept.length - 1 : -1);
  const item = kept[at];
  if (!(item instanceof Map)) return -1;
  const isOther = name === "tool_calls" ? beginsCall(item, delta) : contradicts(item, delta);
  return isOther ? -1 : at;
}

/** Only the last items are searched. */
const WINDOW = 128;

/** Returns the index of the item a delta names; -1 if it is not there, `undefined` if it names none. */
function indexNamed(kept: readonly CapturedValue[], { index, id, type }: Json): number | undefined {
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

/**
 * True if a delta begins another tool call. The name is in the first delta; some servers repeat it with the id, some send a
 * new id per delta.
 */
function beginsCall(item: Members, delta: Json): boolean {
  const [tool, next] = [toolOf((name) => item.get(name)), toolOf((name) => delta[name])];
  if (!isName(next.name) || !isName(tool.name)) return false;
  const id = item.get("id");
  if (isName(id) && isName(delta["id"])) return id !== delta["id"];
  return tool.name !== next.name || isCalledAgain(tool.arguments, next.arguments);
}

interface Tool {
  readonly name: unknown;
  /** JSON text; `undefined` for a custom tool. */
  readonly arguments: unknown;
}

function toolOf(member: (name: string) => unknown): Tool {
  const made = member("function") ?? member("custom");
  const of = (name: string): unknown =>
    made instanceof Map ? made.get(name) : isJsonObject(made) ? made[name] : undefined;
  return { name: of("name"), arguments: of("arguments") };
}

/** True if a repeated tool name begins another call: the arguments before it are complete. */
function isCalledAgain(before: unknown, more: unknown): boolean {
  if (typeof before !== "string" || typeof more !== "string") return true;
  return more.trimStart().startsWith("{") && before.trimEnd().endsWith("}");
}

/** True if a delta contradicts a member of the item. */
function contradicts(item: Members, delta: Json): boolean {
  return Object.entries(delta).some(([name, value]) => {
    const known = item.get(name);
    if (known == null || value == null || name === "index") return false;
    if (known instanceof Map && isJsonObject(value)) return contradicts(known, value);
    if (typeof known === "object" || typeof value === "object") return false;
    return !isStreamedText(name) && known !== "" && value !== "" && known !== value;
  });
}

/** True if a delta contains text that may continue an item. */
function hasText(delta: Json): boolean {
  return Object.entries(delta).some(
    ([name, value]) =>
      (isStreamedText(name) && (typeof value === "string" || Array.isArray(value))) ||
      (isJsonObject(value) && hasText(value)),
  );
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
