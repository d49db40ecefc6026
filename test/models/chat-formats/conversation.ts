import type { SeededRandom } from "../../helpers/seeded-random.ts";

/** A conversation before it is written in any format. Arguments and results are JSON values. */
export interface Conversation {
  readonly system: string | undefined;
  readonly turns: readonly Turn[];
  readonly answer: Said;
  readonly tools: readonly Tool[];
}

export type Turn =
  | { readonly by: "user"; readonly texts: readonly string[]; readonly image: string | undefined }
  | ({ readonly by: "assistant" } & Said)
  | { readonly by: "tools"; readonly results: readonly Result[] };

export interface Said {
  readonly text: string | undefined;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}

export interface Result {
  readonly call: Call;
  readonly value: object;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

type Json = Record<string, unknown>;

/** The line of a chat, written without the service: `idOf` names the calls of formats that have no ids. */
export function expectedChat(
  { system, turns, answer, tools }: Conversation,
  idOf: (call: Call) => string = ({ id }) => id,
): { messages: Json[]; tools?: Json[] } {
  const said = ({ text, calls }: Said): Json => ({
    role: "assistant",
    content: text ?? null,
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({
        id: idOf(call),
        type: "function",
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
    }),
  });
  const messages = turns.flatMap((turn): Json[] => {
    if (turn.by === "assistant") return [said(turn)];
    if (turn.by === "tools")
      return turn.results.map(({ call, value }) => ({
        role: "tool",
        content: JSON.stringify(value),
        tool_call_id: idOf(call),
      }));
    const parts = [
      ...turn.texts.map((text) => ({ type: "text", text })),
      ...(turn.image === undefined ? [] : [{ type: "image_url", image_url: { url: turn.image } }]),
    ];
    return [{ role: "user", content: parts.length === 1 && turn.texts.length === 1 ? turn.texts[0] : parts }];
  });
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...messages,
      said(answer),
    ],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) }),
  };
}

/** Names calls in order, as for formats without ids. */
export function numberedIds({ turns, answer }: Conversation): (call: Call) => string {
  const all = [...turns.flatMap((turn) => (turn.by === "assistant" ? turn.calls : [])), ...answer.calls];
  return (call) => `call_${all.indexOf(call)}`;
}

const TEXTS = [
  "Weather?",
  "Grüße, 你好 😀",
  'Say "no"\nthen \\stop',
  '{"a":1}',
  " ",
  "</s>",
  "weave:// is a scheme",
];
const PNG = "data:image/png;base64,iVBORw0KGgo=";

/** Draws a conversation of one to four exchanges. `mark` stands in its first message and its answer. */
export function drawConversation(random: SeededRandom, mark: string): Conversation {
  const chance = (of: number): boolean => random.next() < of;
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
  let calls = 0;
  const drawCalls = (count: number): Call[] =>
    Array.from({ length: count }, () => ({
      id: `id-${mark}-${calls++}`,
      // two calls of one tool have results in their order
      name: pick(["weather", "search"]),
      args: pick<object>([{}, { city: pick(TEXTS) }, { at: [1, 2.5, null], deep: { ok: true } }]),
    }));
  const turns: Turn[] = [];
  const exchanges = 1 + Math.floor(random.next() * 4);
  for (let place = 0; place < exchanges; place++) {
    const texts = [
      place === 0 ? `${mark} ${pick(TEXTS)}` : pick(TEXTS),
      ...(chance(0.2) ? [pick(TEXTS)] : []),
    ];
    turns.push({ by: "user", texts, image: chance(0.2) ? PNG : undefined });
    if (place === exchanges - 1) break;
    const called = drawCalls(chance(0.5) ? 1 + Math.floor(random.next() * 2) : 0);
    turns.push({
      by: "assistant",
      text: called.length === 0 || chance(0.5) ? pick(TEXTS) : undefined,
      calls: called,
    });
    if (called.length > 0)
      turns.push({
        by: "tools",
        results: called.map((call) => ({ call, value: { out: pick(TEXTS), n: place } })),
      });
  }
  const answerCalls = drawCalls(chance(0.3) ? 1 : 0);
  const hasTools = calls > 0;
  return {
    system: chance(0.5) ? pick(TEXTS) : undefined,
    turns,
    answer: {
      text: answerCalls.length === 0 || chance(0.5) ? `${mark} ${pick(TEXTS)}` : undefined,
      calls: answerCalls,
    },
    tools: hasTools
      ? ["weather", "search"].map((name) => ({
          name,
          description: `Finds ${name}`,
          parameters: { type: "object", properties: { type: { type: "string" } } },
        }))
      : [],
  };
}
