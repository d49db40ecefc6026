import { ticksOf } from "../../../usage/stated-cost.ts";
import { toCount } from "../../../usage/to-count.ts";
import { textOf, type Attributes } from "../attributes.ts";
import type { SpanOrigin } from "../span.ts";
import { firstText, UNKNOWN_MODEL, usageOfSpan } from "../usage-of-span.ts";
import type { AgentEvent, EventCounts } from "./agent.ts";

type Usages = Readonly<Record<string, Readonly<Record<string, number | string>>>>;
const MODEL = ["model", "cursor.model.name", "gen_ai.response.model", "gen_ai.request.model"];

/** Reads an event's usage, in the form of a call's `summary.usage`; `undefined` if it counts nothing. */
export function usageOfEvent(
  { counts, cost = {} }: AgentEvent,
  attributes: Attributes,
  origin: SpanOrigin,
): Usages | undefined {
  if (counts === "conventions") return usageOfSpan({ ...origin, name: "", attributes })?.usage;
  const sent = counts?.find(({ input, output }) => (attributes.get(input) ?? attributes.get(output)) != null);
  if (sent === undefined) return undefined;
  const usd = Object.entries(cost)
    .map(([name, perUsd]) => Number(textOf(attributes.get(name)) ?? Number.NaN) / perUsd)
    .find((stated) => ticksOf(stated) !== undefined);
  // the size of Claude's context window is no part of its model's name
  const model = firstText(attributes, MODEL)?.replace(/\[\w+\]$/, "") ?? UNKNOWN_MODEL;
  return {
    [model]: {
      requests: 1,
      ...countsOf(sent, attributes),
      ...(usd !== undefined && { cost: usd }),
      ...(attributes.get("speed") === "fast" && { speed: "fast" }),
    },
  };
}

function countsOf(names: EventCounts, attributes: Attributes): Readonly<Record<string, number>> {
  const count = (name: string | undefined): number =>
    name === undefined ? 0 : toCount(attributes.get(name));
  const [input, output] = [count(names.input), count(names.output)];
  const [cacheRead, cacheWritten] = [count(names.cacheRead), count(names.cacheWritten)];
  const [tools, reasoning] = [count(names.toolInput), count(names.reasoning)];
  const writtenForAnHour = Math.min(count(names.cacheWritten1h), cacheWritten);
  const cached = names.excludesCache === true ? cacheRead + cacheWritten : 0;
  // the parts with which the total is right
  const parts = [
    [tools, reasoning],
    [0, reasoning],
    [tools, 0],
    [0, 0],
  ] as const;
  const stated = parts.find(([one, other]) => input + output + one + other === count(names.total));
  const [more, thoughts] = stated ?? (names.excludesParts === true ? parts[0] : [0, 0]);
  return {
    prompt_tokens: input + cached + more,
    completion_tokens: output + thoughts,
    total_tokens: input + cached + more + output + thoughts,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWritten,
    ...(writtenForAnHour > 0 && { cache_write_1h_tokens: writtenForAnHour }),
    ...(names.reasoning !== undefined && { reasoning_tokens: reasoning }),
  };
}
