import type { AnswerEvent } from "./answer-event.ts";
import type { Draw } from "./draw.ts";
import type { Json } from "./step.ts";

/** Creates the true usage of a complete response. */
function truthOf(draw: Draw): Json {
  const prompt = 1 + draw.upTo(5000);
  const completion = 1 + draw.upTo(5000);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(draw.chance(0.5) && { prompt_tokens_details: { cached_tokens: draw.upTo(prompt) } }),
  };
}

const ZEROS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Counts that are none, or only in part. */
function garbage(draw: Draw, { prompt_tokens }: Json): unknown {
  const of = (count: unknown): Json => ({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
  });
  return draw.pick<unknown>(
    {},
    ZEROS,
    [],
    "many",
    true,
    of(-1),
    of(5.5),
    of("many"),
    of(null),
    of(2 ** 53),
    of(1e300),
    of({ tokens: 5 }),
    { total_tokens: 12 },
    { prompt_tokens, completion_tokens: draw.pick<unknown>(0, null, -3, 1e20, "?") },
    { prompt_tokens: draw.pick<unknown>(0, null, -3, 1e20, "?"), completion_tokens: 17, total_tokens: 3 },
  );
}

/** The usage of an answer in one piece. */
export function bodyUsage(draw: Draw): unknown {
  const truth = truthOf(draw);
  const asText = Object.fromEntries(
    Object.entries(truth).map(([name, count]) => [name, typeof count === "number" ? String(count) : count]),
  );
  return draw.pick<unknown>(
    truth,
    truth,
    asText,
    garbage(draw, truth),
    garbage(draw, truth),
    undefined,
    null,
  );
}

/** Tells the usage of an answer somewhere in its events, as one of many servers does. */
export function tellUsage(draw: Draw, events: readonly AnswerEvent[]): AnswerEvent[] {
  const truth = truthOf(draw);
  const { prompt_tokens, completion_tokens } = truth;
  const tell = (
    event: AnswerEvent | undefined,
    usage: unknown,
    member: "usage" | "x_groq" = "usage",
  ): void => {
    if (event === undefined) return;
    const own = event.chunk["x_groq"];
    if (member === "usage") event.chunk["usage"] = usage;
    else event.chunk["x_groq"] = { ...(typeof own === "object" ? own : {}), usage };
  };
  const alone = (usage: unknown): AnswerEvent => ({
    chunk: { object: "chat.completion.chunk", choices: [], usage },
    add: () => undefined,
    wrote: 0,
  });
  const first = events[0];
  const last = events.at(-1);
  const running = { prompt_tokens, completion_tokens: draw.pick(0, 1), total_tokens: prompt_tokens };
  const scenarios: readonly (() => unknown)[] = [
    () => [],
    () => [alone(truth)],
    () => (events.forEach((event) => tell(event, null)), [alone(truth)]),
    () => (events.forEach((event) => tell(event, draw.pick<unknown>(ZEROS, {}))), [alone(truth)]),
    () => (events.forEach((event) => tell(event, ZEROS)), tell(last, truth)),
    () => tell(last, truth),
    () => tell(last, truth, "x_groq"),
    () => (tell(first, running), [alone(truth)]),
    () => (tell(first, running), tell(last, truth)),
    () => tell(first, running),
    () => (countAsItGoes(events, truth), [alone(truth)]),
    () => countAsItGoes(events, truth),
    () => (
      tell(first, { prompt_tokens, completion_tokens: draw.pick(0, null) }),
      [alone({ completion_tokens })]
    ),
    () => (
      tell(first, { prompt_tokens }),
      [alone({ prompt_tokens: 0, completion_tokens, total_tokens: completion_tokens })]
    ),
    () => (tell(first, { prompt_tokens }), tell(last, { completion_tokens })),
    () => (tell(last, { completion_tokens }), [alone({ prompt_tokens })]),
    () => (tell(last, truth), [alone(draw.pick<unknown>(ZEROS, {}, { ...ZEROS, completion_tokens: null }))]),
    () => [alone(garbage(draw, truth))],
    () => tell(last, garbage(draw, truth)),
    () => (tell(first, garbage(draw, truth)), [alone(truth)]),
    () => [alone(running)],
  ];
  const more = draw.pick(...scenarios)();
  return Array.isArray(more) ? [...events, ...(more as AnswerEvent[])] : [...events];
}

/** Each chunk counts what its own choice has used. */
function countAsItGoes(events: readonly AnswerEvent[], { prompt_tokens }: Json): void {
  const counts = new Map<number, number>();
  for (const { chunk, choice } of events) {
    if (choice === undefined) continue;
    const count = (counts.get(choice) ?? 0) + 1;
    counts.set(choice, count);
    chunk["usage"] = { prompt_tokens, completion_tokens: count, total_tokens: Number(prompt_tokens) + count };
  }
}

export interface ExpectedUsage {
  readonly basis: "exact" | "partial" | "none";
  readonly counts: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

export const estimated = (bytes: number): number => Math.ceil(bytes / 4);

/** A positive count that can be one, else 0. */
function countIn(value: unknown): number {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : 0;
}

function saidIn(chunk: Json): Json {
  const groq = chunk["x_groq"] as Json | undefined;
  const said = chunk["usage"] ?? groq?.["usage"];
  return typeof said === "object" && said !== null && !Array.isArray(said) ? (said as Json) : {};
}

/**
 * Computes the usage that events report, by the rule in docs/gateway.md. `complete`: the response is complete. `asked`:
 * bytes of the prompt.
 */
export function expectedUsage(
  events: readonly AnswerEvent[],
  { complete, asked }: { readonly complete: boolean; readonly asked: number },
): ExpectedUsage {
  const running = new Set<number>();
  const begun = new Set<number>();
  const counted = new Set<number>();
  let [prompt, completion, total, wrote, wroteWhenCounted, wroteAtLastWord] = [0, 0, 0, 0, 0, -1];
  for (const { chunk, choice, ends, wrote: more } of events) {
    wrote += more;
    if (choice !== undefined) {
      begun.add(choice);
      if (ends === choice) running.delete(choice);
      else running.add(choice);
    }
    const said = saidIn(chunk);
    const now = countIn(said["completion_tokens"]);
    prompt = countIn(said["prompt_tokens"]) || prompt;
    total = countIn(said["total_tokens"]) || total;
    const isUsageOnly = Array.isArray(chunk["choices"]) && chunk["choices"].length === 0;
    if ((countIn(said["prompt_tokens"]) || now) > 0 && isUsageOnly && begun.size > 0 && running.size === 0)
      wroteAtLastWord = wrote;
    if (now === 0) continue;
    completion = now;
    wroteWhenCounted = wrote;
    if (choice === undefined) counted.clear();
    else counted.add(choice);
  }
  return judged({
    prompt,
    completion,
    total,
    since: wrote - wroteWhenCounted,
    asked,
    isLastWord: (complete || wroteAtLastWord === wrote) && counted.size < 2,
  });
}

/** The same of an answer in one piece. */
export function expectedOfBody(
  usage: unknown,
  { asked, wrote }: { readonly asked: number; readonly wrote: number },
): ExpectedUsage {
  const said = saidIn({ usage });
  const completion = countIn(said["completion_tokens"]);
  return judged({
    prompt: countIn(said["prompt_tokens"]),
    completion,
    total: countIn(said["total_tokens"]),
    since: completion === 0 ? wrote : 0,
    asked,
    isLastWord: true,
  });
}

function judged({
  prompt,
  completion,
  total,
  since,
  asked,
  isLastWord,
}: {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number;
  readonly since: number;
  readonly asked: number;
  readonly isLastWord: boolean;
}): ExpectedUsage {
  const isPromptTold = prompt > 0 || asked === 0;
  const isExact = isPromptTold && since === 0 && isLastWord;
  const prompts = isPromptTold ? prompt : estimated(asked);
  const completions = completion + estimated(since);
  const sum = prompts + completions;
  return {
    basis: prompt === 0 && completion === 0 ? "none" : isExact ? "exact" : "partial",
    counts: {
      prompt_tokens: prompts,
      completion_tokens: completions,
      total_tokens: isExact ? Math.max(total, sum) : sum,
    },
  };
}
