import { CHAT_REASONS } from "./chat/left-out.ts";

/** Reasons why a selected call is not exported. */
export const REASONS = [
  ...CHAT_REASONS,
  "changed",
  "has_parent",
  "has_children",
  "not_last_of_thread",
  "no_reward",
  "no_counterpart",
  "same_answer",
  "duplicate",
  "over_limit",
] as const;

export type Reason = (typeof REASONS)[number];
/** `held_out`: an example that the holdout keeps. */
export const HELD_OUT = "held_out";
export type Verdict = Reason | typeof HELD_OUT;
