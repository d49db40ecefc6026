import type { AnswerEvent, ToldError } from "./answer-event.ts";
import type { Draw } from "./draw.ts";
import type { Json } from "./step.ts";

const MESSAGE = "Provider returned an error";
const ERROR = { code: 502, message: MESSAGE, metadata: { provider_name: "Vendor" } };

/** Forms of errors that servers send after the response has begun. */
const FORMS: readonly { readonly chunk: Json; readonly error: ToldError }[] = [
  {
    chunk: { error: ERROR, choices: [] },
    error: { message: MESSAGE, ends: true, members: { error: ERROR } },
  },
  { chunk: { error: MESSAGE }, error: { message: MESSAGE, ends: true, members: { error: MESSAGE } } },
  {
    chunk: { x_groq: { error: MESSAGE, id: "req_1" }, choices: [] },
    error: { message: MESSAGE, ends: true, members: { x_groq: { error: MESSAGE } } },
  },
  {
    chunk: { detail: MESSAGE },
    error: { message: MESSAGE, ends: true, members: {}, replaces: { detail: MESSAGE } },
  },
  {
    chunk: { detail: [{ loc: ["body", "n"], msg: "too many", type: "t" }] },
    error: {
      message: "n: too many",
      ends: true,
      members: {},
      replaces: { detail: [{ loc: ["body", "n"], msg: "too many", type: "t" }] },
    },
  },
];

/** An error of an answer, in a third of all cases: instead of the rest, or as the end of a choice. */
export function drawErrors(
  draw: Draw,
  events: readonly AnswerEvent[],
): { readonly events: AnswerEvent[]; readonly bodyError: ToldError | undefined } {
  if (!draw.chance(0.35)) return { events: [...events], bodyError: undefined };
  if (draw.chance(0.5)) return atEndOfChoice(draw, events);
  const { chunk, error } = draw.pick(...FORMS);
  const at = draw.upTo(events.length);
  const beside = events[at - 1]?.choice;
  const isBeside = beside !== undefined && chunk["choices"] !== undefined && draw.chance(0.5);
  const last: AnswerEvent = {
    chunk: isBeside
      ? { ...chunk, choices: [{ index: beside, delta: { content: "" }, finish_reason: "error" }] }
      : chunk,
    add(choices) {
      if (!isBeside) return;
      const choice = choices.get(beside)!;
      choice["finish_reason"] = "error";
      const message = choice["message"] as Json;
      message["content"] ??= "";
    },
    wrote: 0,
    error,
    ...(isBeside && { ends: beside, choice: beside }),
  };
  return { events: [...events.slice(0, at), last], bodyError: error };
}

/** A choice ends with an error, told with it or only by its reason; the others go on. */
function atEndOfChoice(
  draw: Draw,
  events: readonly AnswerEvent[],
): { readonly events: AnswerEvent[]; readonly bodyError: ToldError } {
  const ended = draw.pick(...events.filter(({ ends }) => ends !== undefined));
  const index = ended.ends!;
  const facts = draw.pick<Json>(
    { error: ERROR, finish_reason: "error" },
    { error: MESSAGE, finish_reason: null },
    { finish_reason: "error" },
  );
  const message = facts["error"] === undefined ? "The upstream ended a choice with an error." : MESSAGE;
  const error = { message, ends: false, members: {} };
  const replaced: AnswerEvent = {
    chunk: { choices: [{ index, delta: {}, ...facts }] },
    add(choices) {
      ended.add(choices);
      const { message: said } = choices.get(index)!;
      choices.set(index, { index, message: said, ...facts });
    },
    wrote: 0,
    ends: index,
    choice: index,
    error,
  };
  return { events: events.map((event) => (event === ended ? replaced : event)), bodyError: error };
}
