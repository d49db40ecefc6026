import { isJsonObject } from "../../shared/json.ts";
import { newMembers, type Draft, type Json, type Members } from "./draft.ts";
import { isStreamedText } from "./written-text.ts";

/** Content is recorded up to this size. */
const MAX_CONTENT_BYTES = 1024 * 1024;
/** Members that can be larger than the response itself, or no member. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "logprobs",
  "prompt_logprobs",
  "token_ids",
  "prompt_token_ids",
  "obfuscation",
  "__proto__",
]);
const MAX_LIST = 4096;
const NONE: ReadonlySet<string> = new Set();
/** Types of parts that come in pieces and have neither index nor id. */
const CONTINUED: ReadonlySet<unknown> = new Set(["text", "thinking"]);

/** Keeps the last value of each member; objects are merged, and an empty value replaces nothing. */
export function keep(draft: Draft, kept: Members, facts: Json, skipped: ReadonlySet<string> = NONE): void {
  for (const name of Object.keys(facts)) {
    const value = facts[name];
    const old = kept[name];
    if (old === value || skipped.has(name) || UNRECORDED.has(name)) continue;
    if (isJsonObject(old) && isJsonObject(value)) keep(draft, old, value);
    else if (old === undefined || !isEmpty(value)) set(draft, kept, name, value);
  }
}

/** Adds a delta to a message: text and lists grow, objects are merged, and the last of other values stays. */
export function extend(draft: Draft, kept: Members, delta: Json): void {
  for (const name of Object.keys(delta)) {
    const value = delta[name];
    const old = kept[name];
    if (UNRECORDED.has(name)) continue;
    if (Array.isArray(value)) extendList(draft, listAt(kept, name), value);
    else if (isJsonObject(value)) extend(draft, objectAt(kept, name), value);
    else if (typeof value === "string" && isStreamedText(name) && typeof old === "string")
      addText(draft, kept, name, value);
    else if (typeof value === "string" && isStreamedText(name) && Array.isArray(old)) {
      if (value !== "") extendList(draft, old, [{ type: "text", text: value }]);
    } else if (old == null || !isEmpty(value)) set(draft, kept, name, value);
  }
}

/** Appends text to a member, as long as it fits. */
export function addText(draft: Draft, kept: Members, name: string, text: string): void {
  if (fits(draft, text.length)) kept[name] = (typeof kept[name] === "string" ? kept[name] : "") + text;
}

/** Copies content without unrecorded members, as far as it fits. */
export function copyOf(draft: Draft, value: Json): Members {
  const copy = newMembers();
  for (const name of Object.keys(value)) if (!UNRECORDED.has(name)) set(draft, copy, name, value[name]);
  return copy;
}

function set(draft: Draft, kept: Members, name: string, value: unknown): void {
  draft.contentBytes -= bytesOf(kept[name]);
  if (fits(draft, bytesOf(value))) kept[name] = stripped(value);
}

/** Accounts for content. After the first that does not fit, none does, so that recorded text is a prefix. */
function fits(draft: Draft, bytes: number): boolean {
  if (draft.contentBytes + bytes > MAX_CONTENT_BYTES) draft.isTruncated = true;
  if (!draft.isTruncated) draft.contentBytes += bytes;
  return !draft.isTruncated;
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return value === undefined ? 0 : 8;
  return Object.values(value).reduce((sum: number, inner) => sum + 8 + bytesOf(inner), 16);
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (!isJsonObject(value)) return value;
  const recorded = Object.entries(value).filter(([name]) => !UNRECORDED.has(name));
  return Object.assign(
    newMembers(),
    Object.fromEntries(recorded.map(([name, inner]) => [name, stripped(inner)])),
  );
}

function extendList(draft: Draft, kept: unknown[], items: readonly unknown[]): void {
  for (const item of items) {
    const known = isJsonObject(item) ? continuedBy(kept, item) : undefined;
    if (known !== undefined) extend(draft, known, item as Json);
    else if (kept.length >= MAX_LIST || !fits(draft, 16)) draft.isTruncated = true;
    else kept.push(isJsonObject(item) ? copyOf(draft, item) : item);
  }
}

/** Returns the item of a list that a delta continues. */
function continuedBy(kept: readonly unknown[], { index, type, id }: Json): Members | undefined {
  if (typeof index === "number")
    return kept.findLast((one): one is Members => isJsonObject(one) && one["index"] === index);
  const last = kept.at(-1);
  return id === undefined && CONTINUED.has(type) && isJsonObject(last) && last["type"] === type
    ? last
    : undefined;
}

/** Returns the list of a member. Text that it has had becomes the first part. */
function listAt(kept: Members, name: string): unknown[] {
  const old = kept[name];
  if (Array.isArray(old)) return old;
  const list = typeof old === "string" && old !== "" ? [{ type: "text", text: old }] : [];
  kept[name] = list;
  return list;
}

function objectAt(kept: Members, name: string): Members {
  const old = kept[name];
  if (isJsonObject(old)) return old;
  const fresh = newMembers();
  kept[name] = fresh;
  return fresh;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "" || value === 0;
}
