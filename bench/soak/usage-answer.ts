import type { Used } from "./expected.ts";

type Told = Readonly<Record<string, number>>;

export interface UsageAnswer {
  readonly call_usage: Readonly<Record<string, Readonly<Record<string, Told>>>>;
  readonly unfinished_call_ids: readonly string[];
}

/** The usage of a call in an answer, if it is not the expected one; otherwise undefined. */
export function differenceOf({ call_usage }: UsageAnswer, id: string, used: Used): string | undefined {
  const told = call_usage[id];
  const tokens = told?.[used.llm];
  const right =
    tokens !== undefined &&
    Object.keys(told!).length === 1 &&
    tokens["requests"] === used.requests &&
    tokens["prompt_tokens"] === used.prompt_tokens &&
    tokens["completion_tokens"] === used.completion_tokens;
  return right ? undefined : `${id}: ${JSON.stringify(told)} instead of ${JSON.stringify(used)}`;
}
