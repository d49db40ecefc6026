import type { Issue } from "../shared/errors.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";
import { aliasOf } from "./emoji-names.ts";
import { isOneEmoji, withoutSkinTones } from "./emoji.ts";

export type Payload = Readonly<Record<string, unknown>>;

type PayloadIssue = Issue & { readonly loc: readonly string[] };

const REACTION = "wandb.reaction.1";
const NOTE = "wandb.note.1";
const MAX_NOTE_CHARS = 1024;
/** Limit in UTF-16 units, above any emoji sequence: a grapheme can have any length. */
const MAX_EMOJI_CHARS = 64;

/** Validates a payload; `loc` is relative to it. Payloads of other feedback types can be any JSON object. */
export function payloadIssues(feedbackType: string, payload: Payload): readonly PayloadIssue[] {
  if (isTooDeep(payload)) return [issue([], `Nested deeper than ${MAX_JSON_DEPTH} levels`, "recursion_loop")];
  if (feedbackType === REACTION) return emojiIssues(payload["emoji"]);
  if (feedbackType === NOTE) return noteIssues(payload["note"]);
  if (feedbackType.startsWith("wandb.annotation.")) return requiredIssues(payload, "value");
  if (feedbackType.startsWith("wandb.runnable.")) return requiredIssues(payload, "output");
  return [];
}

/** Adds the derived members of a reaction: `alias`, `detoned`, `detoned_alias`. */
export function completePayload(feedbackType: string, payload: Payload): Payload {
  const emoji = payload["emoji"];
  if (feedbackType !== REACTION || typeof emoji !== "string") return payload;
  const detoned = withoutSkinTones(emoji);
  const [alias, detonedAlias] = [aliasOf(emoji), aliasOf(detoned)];
  return {
    ...payload,
    ...(alias !== undefined && { alias }),
    detoned,
    ...(detonedAlias !== undefined && { detoned_alias: detonedAlias }),
  };
}

function emojiIssues(emoji: unknown): readonly PayloadIssue[] {
  if (emoji === undefined) return [missing("emoji")];
  if (typeof emoji === "string" && emoji.length <= MAX_EMOJI_CHARS && isOneEmoji(emoji)) return [];
  return [issue(["emoji"], "Input should be exactly one emoji", "value_error")];
}

function noteIssues(note: unknown): readonly PayloadIssue[] {
  if (note === undefined) return [missing("note")];
  if (typeof note !== "string") return [issue(["note"], "Input should be a string", "string_type")];
  if (note.length === 0) return [issue(["note"], "A note must not be empty", "string_too_short")];
  if (note.length <= 2 * MAX_NOTE_CHARS && Array.from(note).length <= MAX_NOTE_CHARS) return [];
  return [issue(["note"], `A note may have at most ${MAX_NOTE_CHARS} characters`, "string_too_long")];
}

function requiredIssues(payload: Payload, member: string): readonly PayloadIssue[] {
  return Object.hasOwn(payload, member) ? [] : [missing(member)];
}

function missing(member: string): PayloadIssue {
  return issue([member], "Field required", "missing");
}

function issue(loc: readonly string[], msg: string, type: string): PayloadIssue {
  return { loc, msg, type };
}
