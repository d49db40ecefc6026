import type { Fault } from "../shared/errors.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";
import { isOneEmoji, withoutSkinTones } from "./emoji.ts";

export type Payload = Readonly<Record<string, unknown>>;

type PayloadFault = Fault & { readonly loc: readonly string[] };

const REACTION = "wandb.reaction.1";
const NOTE = "wandb.note.1";
const MAX_NOTE_CHARS = 1024;
/** Longer emoji sequences do not exist; a grapheme can be as long as one likes. */
const MAX_EMOJI_CHARS = 64;

/** What is wrong with a payload of a feedback type; `loc` within the payload. Types that are not ours are free. */
export function payloadFaults(feedbackType: string, payload: Payload): readonly PayloadFault[] {
  if (isTooDeep(payload)) return [fault([], `Nested deeper than ${MAX_JSON_DEPTH} levels`, "recursion_loop")];
  if (feedbackType === REACTION) return emojiFaults(payload["emoji"]);
  if (feedbackType === NOTE) return noteFaults(payload["note"]);
  if (feedbackType.startsWith("wandb.annotation.")) return requiredFaults(payload, "value");
  if (feedbackType.startsWith("wandb.runnable.")) return requiredFaults(payload, "output");
  return [];
}

/** The payload as it is stored and answered. */
export function completePayload(feedbackType: string, payload: Payload): Payload {
  const emoji = payload["emoji"];
  if (feedbackType !== REACTION || typeof emoji !== "string") return payload;
  return { ...payload, detoned: withoutSkinTones(emoji) };
}

function emojiFaults(emoji: unknown): readonly PayloadFault[] {
  if (emoji === undefined) return [missing("emoji")];
  if (typeof emoji === "string" && emoji.length <= MAX_EMOJI_CHARS && isOneEmoji(emoji)) return [];
  return [fault(["emoji"], "Input should be exactly one emoji", "value_error")];
}

function noteFaults(note: unknown): readonly PayloadFault[] {
  if (note === undefined) return [missing("note")];
  if (typeof note !== "string") return [fault(["note"], "Input should be text", "string_type")];
  if (note.length === 0) return [fault(["note"], "A note has at least 1 character", "string_too_short")];
  if (note.length <= 2 * MAX_NOTE_CHARS && Array.from(note).length <= MAX_NOTE_CHARS) return [];
  return [fault(["note"], `A note has at most ${MAX_NOTE_CHARS} characters`, "string_too_long")];
}

function requiredFaults(payload: Payload, member: string): readonly PayloadFault[] {
  return Object.hasOwn(payload, member) ? [] : [missing(member)];
}

function missing(member: string): PayloadFault {
  return fault([member], "Field required", "missing");
}

function fault(loc: readonly string[], msg: string, type: string): PayloadFault {
  return { loc, msg, type };
}
