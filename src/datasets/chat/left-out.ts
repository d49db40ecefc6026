/** Reasons why a call is no example of a chat. */
export const CHAT_REASONS = [
  "not_a_chat",
  "unfinished",
  "failed",
  "no_answer",
  "content_not_recorded",
  "truncated",
  "history_elsewhere",
  "unsupported_content",
  "unsupported_tools",
  "unmatched_tool_result",
] as const;

export type ChatReason = (typeof CHAT_REASONS)[number];

/** Thrown while a call is converted that is no example. */
export class LeftOut extends Error {
  readonly reason: ChatReason;

  constructor(reason: ChatReason) {
    super(reason);
    this.reason = reason;
  }
}

const OBJECT_REF = /^weave:\/\/\//;

/** Throws content_not_recorded for a reference to an object that is stored elsewhere. */
export function requireRecorded(value: unknown): void {
  if (typeof value === "string" && OBJECT_REF.test(value)) throw new LeftOut("content_not_recorded");
}
