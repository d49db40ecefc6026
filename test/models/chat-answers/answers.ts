import type { Draw } from "./draw.ts";
import { messageSteps } from "./messages.ts";
import { bytesOf, type Json, type Step } from "./step.ts";
import type { AnswerEvent, ToldError } from "./answer-event.ts";
import { drawErrors } from "./errors.ts";
import { tellUsage } from "./usage.ts";

/** A random answer as a stream and in one piece. */
export interface Answer {
  readonly head: Json;
  readonly events: readonly AnswerEvent[];
  /** The end marker. */
  readonly done: boolean;
  readonly body: Json;
  /** Bytes of text that the model wrote. */
  readonly wrote: number;
  readonly bodyError: ToldError | undefined;
}

/** Members that never belong to the record, each with a value of any size. */
const UNRECORDED = { logprobs: { content: [{ token: "a", logprob: -0.5 }] }, token_ids: [1, 2, 3] };

export function drawAnswer(draw: Draw): Answer {
  const head: Json = {
    id: draw.id("chatcmpl-"),
    created: 1_900_000_000 + draw.upTo(1000),
    model: draw.pick("forest-1", "vendor/forest-2"),
    ...(draw.chance(0.5) && { system_fingerprint: draw.id("fp_") }),
    ...(draw.chance(0.3) && { service_tier: "flex" }),
    ...(draw.chance(0.2) && { provider: "Vendor", citations: [draw.id("https://"), draw.id("https://")] }),
  };
  const count = draw.pick(1, 1, 1, 2, 3);
  const scripts = Array.from({ length: count }, (_, index) => choiceEvents(draw, index, messageSteps(draw)));
  const said = draw.chance(0.7) ? mixed(draw, scripts) : scripts.flat();
  const { events, bodyError } = drawErrors(draw, said);
  const opened = draw.chance(0.2) ? [filterResults(), ...events] : events;
  for (const event of opened) {
    if (event.chunk["choices"] !== undefined)
      event.chunk = { ...head, object: "chat.completion.chunk", ...event.chunk };
    else event.chunk = { ...event.chunk };
  }
  const choices = new Map<number, Json>();
  for (const event of opened) event.add(choices);
  const body = { ...head, object: "chat.completion", ...extras(opened), choices: inOrder(choices) };
  return {
    head: { ...head, ...extras(opened) },
    events: tellUsage(draw, opened),
    done: draw.chance(0.7),
    body: bodyError?.replaces === undefined ? { ...body, ...bodyError?.members } : bodyError.replaces,
    wrote:
      bodyError?.replaces === undefined
        ? [...choices.values()].reduce((sum, one) => sum + writtenIn(one), 0)
        : 0,
    bodyError,
  };
}

/** The choices as they stand in one piece. */
export function inOrder(choices: ReadonlyMap<number, Json>): Json[] {
  return [...choices]
    .toSorted(([a], [b]) => a - b)
    .map(([, choice]) => ({ ...choice, message: withContent(choice["message"] as Json) }));
}

/** An empty content beside something else is none. */
function withContent(message: Json): Json {
  const { content, tool_calls, function_call, refusal, audio } = message;
  const isSaidElse = [tool_calls, function_call, refusal, audio].some((said) => said != null);
  return content === "" && isSaidElse ? { ...message, content: null } : message;
}

/** Bytes of text that the model wrote in a choice. */
function writtenIn(choice: Json): number {
  const message = choice["message"] as {
    readonly content:
      | string
      | null
      | readonly { readonly text?: string; readonly thinking?: readonly { readonly text: string }[] }[];
    readonly tool_calls?: readonly Readonly<Record<"function" | "custom", Json | undefined>>[];
    readonly function_call?: Json;
    readonly audio?: { readonly transcript?: string };
  } & Json;
  const { content, refusal, reasoning, reasoning_content, tool_calls, function_call, audio } = message;
  const parts = typeof content === "string" ? [{ text: content, thinking: [] }] : (content ?? []);
  const calls = [...(tool_calls ?? []).map((call) => call.function ?? call.custom), function_call];
  const texts: unknown[] = [
    ...parts.flatMap(({ text, thinking }) => [text, ...(thinking ?? []).map((thought) => thought.text)]),
    refusal,
    reasoning ?? reasoning_content,
    ...calls.flatMap((call) => Object.values(call ?? {})),
    audio?.transcript,
  ];
  return texts.reduce((sum: number, text) => sum + (typeof text === "string" ? bytesOf(text) : 0), 0);
}

/** Creates the event that Azure sends first. */
function filterResults(): AnswerEvent {
  const chunk = {
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }],
  };
  return { chunk, add: () => undefined, wrote: 0 };
}

function extras(events: readonly AnswerEvent[]): Json {
  const results = events[0]?.chunk["prompt_filter_results"];
  return results === undefined ? {} : { prompt_filter_results: results };
}

function choiceEvents(draw: Draw, index: number, parts: readonly (readonly Step[])[]): AnswerEvent[] {
  const role: Step = { delta: { role: "assistant" }, add: () => undefined, wrote: 0 };
  const steps = [role, ...mixed(draw, parts)];
  const message = (choices: Map<number, Json>): Json => {
    const fresh = { index, finish_reason: null, message: { role: "assistant", content: null } };
    if (!choices.has(index)) choices.set(index, fresh);
    return choices.get(index)!["message"] as Json;
  };
  const said = steps.map(({ delta, add, wrote }): AnswerEvent => ({
    chunk: { choices: [{ index, delta, finish_reason: null, ...(draw.chance(0.2) && UNRECORDED) }] },
    add: (choices) => add(message(choices)),
    wrote,
    choice: index,
  }));
  const facts: Json = {
    finish_reason: draw.pick("stop", "length", "tool_calls"),
    ...(draw.chance(0.3) && { content_filter_results: { hate: { filtered: false, severity: "safe" } } }),
    ...(draw.chance(0.3) && {
      native_finish_reason: "end_turn",
      stop_reason: draw.pick<number | string>(7, "x"),
    }),
  };
  const end: AnswerEvent = {
    chunk: { choices: [{ index, delta: {}, ...facts }] },
    add(choices) {
      message(choices);
      Object.assign(choices.get(index)!, facts);
    },
    wrote: 0,
    ends: index,
    choice: index,
  };
  return [...said, end];
}

/** Lists beside each other, each in its order. */
function mixed<T>(draw: Draw, lists: readonly (readonly T[])[]): T[] {
  const left = lists.map((list) => [...list]);
  const all: T[] = [];
  for (
    let open = left.filter((one) => one.length > 0);
    open.length > 0;
    open = left.filter((one) => one.length > 0)
  ) {
    all.push(draw.pick(...open).shift()!);
  }
  return all;
}
