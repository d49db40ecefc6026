import { isJsonObject } from "../../shared/json.ts";
import { readEntry, withRest } from "../../usage/read-entry.ts";
import type { PricedUsage } from "../../usage/usage.ts";
import { errorFrame } from "../errors.ts";
import { copyOf, extend, keep } from "./content.ts";
import { newMembers, type Draft, type Json, Choice, ChoicesState, textOf } from "./draft.ts";
import { errorOfChoice } from "./error-in-response.ts";
import { credible } from "./count-usage.ts";
import type { ModelApi } from "./model-api.ts";
import { writtenBytes } from "./written-text.ts";

const MAX_CHOICES = 1024;
const OF_RESPONSE = new Set(["id", "model", "service_tier", "object", "choices", "usage"]);
const OF_CHOICE = new Set(["index", "delta", "message", "text"]);
const OTHER_CONTENT = ["tool_calls", "function_call", "refusal", "audio"] as const;

/** Chat completions and legacy completions: responses with choices. */
export const choicesApi: Omit<ModelApi, "path" | "opName"> = {
  api: "openai",
  asksForUsage: true,
  isLast: () => false,
  errorEvent: errorFrame,
  fold(draft, event, isBody) {
    foldHead(draft, event);
    const choices = choicesIn(event);
    const state = (draft.choices ??= new ChoicesState());
    for (const [position, choice] of choices.entries()) foldChoice(draft, state, choice, position);
    const all = [...state.byIndex.values()];
    const isOver = all.length > 0 && all.length < MAX_CHOICES && all.every(({ hasEnded }) => hasEnded);
    draft.hasEnded = isBody || isOver || draft.hasFailed;
    const usage = usageIn(event);
    const isFinal = isBody || (isOver && choices.length === 0);
    if (usage !== undefined) foldUsage(draft, state, { usage, choices, isFinal });
  },
  finish(draft) {
    const choices = [...(draft.choices?.byIndex ?? [])].toSorted(([a], [b]) => a - b);
    if (choices.length === 0) draft.output = newMembers();
    else draft.output["choices"] = choices.map(([index, choice]) => toChoice(index, choice));
  },
};

/** True for the chunk that only reports usage. */
export function isUsageOnly(event: Json): boolean {
  return choicesIn(event).length === 0 && isJsonObject(event["usage"]);
}

function foldHead(draft: Draft, event: Json): void {
  draft.name(draft.id ?? event["id"], event["model"], event["service_tier"]);
  if (!draft.keepsContent) return;
  const object = textOf(event["object"]);
  if (object !== undefined)
    draft.output["object"] ??= object === "chat.completion.chunk" ? "chat.completion" : object;
  keep(draft, draft.output, event, OF_RESPONSE);
}

function choicesIn({ choices }: Json): readonly Json[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

function indexOf(choice: Json, position: number): number {
  return typeof choice["index"] === "number" ? choice["index"] : position;
}

function foldChoice(draft: Draft, state: ChoicesState, raw: Json, position: number): void {
  const choice = choiceAt(state, indexOf(raw, position));
  if (choice === undefined) return;
  const error = errorOfChoice(raw);
  draft.failure ??= error;
  choice.hasEnded ||= textOf(raw["finish_reason"]) !== undefined || error !== undefined;
  if (draft.keepsContent) keep(draft, choice.facts, raw, OF_CHOICE);
  const { delta, message, text } = raw;
  if (typeof text === "string") {
    choice.isText = true;
    foldDelta(draft, choice, { delta: { text }, bytes: Buffer.byteLength(text) });
  }
  if (isJsonObject(delta)) foldDelta(draft, choice, { delta, bytes: writtenBytes(delta) });
  else if (isJsonObject(message)) foldMessage(draft, choice, message);
}

function foldDelta(draft: Draft, choice: Choice, { delta, bytes }: { delta: Json; bytes: number }): void {
  choice.writtenBytes += bytes;
  draft.textBytes += bytes;
  if (draft.keepsContent) extend(draft, choice.message, delta);
}

/** Replaces the deltas of a choice by its whole message. */
function foldMessage(draft: Draft, choice: Choice, message: Json): void {
  const bytes = writtenBytes(message);
  if (bytes < choice.writtenBytes) return;
  draft.textBytes += bytes - choice.writtenBytes;
  choice.writtenBytes = bytes;
  choice.isWhole = true;
  if (draft.keepsContent) choice.message = copyOf(draft, message);
}

function choiceAt({ byIndex }: ChoicesState, index: number): Choice | undefined {
  const known = byIndex.get(index);
  if (known !== undefined || byIndex.size >= MAX_CHOICES) return known;
  const added = new Choice();
  byIndex.set(index, added);
  return added;
}

function foldUsage(
  draft: Draft,
  state: ChoicesState,
  { usage, choices, isFinal }: { usage: Json; choices: readonly Json[]; isFinal: boolean },
): void {
  const { promptTokens, completionTokens } = mergeCounts(draft, usage);
  if (isFinal && promptTokens + completionTokens > 0) draft.isCounted = true;
  if (completionTokens === 0) return;
  draft.countedBytes = draft.textBytes;
  const choice = choices.length === 1 ? indexOf(choices[0]!, 0) : undefined;
  const isOther = state.counted !== undefined && state.counted !== choice;
  state.hasMixedCounts = choice !== undefined && (state.hasMixedCounts || isOther);
  state.counted = choice;
}

/** Adds a report of usage: the last positive value of each member holds, because zero may mean unknown. */
function mergeCounts(draft: Draft, usage: Json): PricedUsage {
  const counts = withRest(credible(usage), false);
  draft.usage = merged(draft.usage ?? {}, counts);
  return readEntry(counts);
}

function merged(old: Json, said: Json): Json {
  const sum: Record<string, unknown> = { ...old };
  for (const [name, value] of Object.entries(said)) {
    const before = sum[name];
    if (isJsonObject(before) && isJsonObject(value)) sum[name] = merged(before, value);
    else if (before === undefined || (value !== 0 && value !== null && value !== "")) sum[name] = value;
  }
  return sum;
}

/** Returns the usage in a chunk or completion; Groq reports it in `x_groq`, Moonshot in the final choice. */
function usageIn({ usage, x_groq: groq, choices }: Json): Json | undefined {
  const inChoice: unknown = Array.isArray(choices)
    ? choices.findLast((choice) => isJsonObject(choice) && isJsonObject(choice["usage"]))
    : undefined;
  const candidates = [
    usage,
    isJsonObject(groq) ? groq["usage"] : undefined,
    isJsonObject(inChoice) ? inChoice["usage"] : undefined,
  ];
  return candidates.find(isJsonObject);
}

function toChoice(index: number, { facts, message, isWhole, isText }: Choice): Json {
  if (isText) return { index, ...message, finish_reason: null, ...facts };
  const calls = message["tool_calls"];
  // streams begin with empty content, even if they contain something else
  const hasOther = OTHER_CONTENT.some((name) => message[name] != null);
  const isSaidElse = !isWhole && message["content"] === "" && hasOther;
  return {
    index,
    message: {
      role: "assistant",
      content: null,
      ...message,
      ...(Array.isArray(calls) ? { tool_calls: inOrder(calls) } : {}),
      ...(isSaidElse ? { content: null } : {}),
    },
    finish_reason: null,
    ...facts,
  };
}

/** Sorts tool calls by `index` and removes it, as in non-streamed completions. */
function inOrder(calls: readonly unknown[]): readonly unknown[] {
  const indexed = calls.filter(isJsonObject).filter((call) => typeof call["index"] === "number");
  if (indexed.length < calls.length) return calls;
  return indexed
    .toSorted((a, b) => Number(a["index"]) - Number(b["index"]))
    .map(({ index: _index, ...call }) => call);
}
