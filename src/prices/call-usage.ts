import type { UnitCounts } from "./units.ts";

/** What one call used of one LLM, as `src/calls` reads it: counts are whole and not negative. */
export interface CallUsage {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
  /** True when `promptTokens` leaves the cache tokens out, as Anthropic's raw usage does. */
  readonly cacheOutsidePrompt: boolean;
  /** What else the call used; absent where it told of nothing else. */
  readonly units?: UnitCounts;
}
