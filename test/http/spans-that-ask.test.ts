import { afterAll, beforeAll, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const A = "resp_0a1B2c3D4e5F6g7H8i9J0kLm";
const B = "chatcmpl-Zy9Xw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg";
const C = "msg_01QwErTyUiOpAsDfGhJkLzXc";

/** The number of its parent, its name, prompt and completion tokens, and the id of a response. */
type Draft = readonly [
  parent: number | null,
  name: string,
  tokens?: readonly [prompt: number, completion: number],
  responseId?: string,
];

const idOf = (number: number): string => (number + 1).toString(16).padStart(16, "0");
const traceOf = (place: number): string => (place + 1).toString(16).padStart(32, "0");
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

function spansOf({ scope, drafts }: Case, place: number): object {
  const spans = drafts.map(([parent, name, tokens, responseId], number) => ({
    traceId: traceOf(place),
    spanId: idOf(number),
    ...(parent !== null && { parentSpanId: idOf(parent) }),
    name,
    startTimeUnixNano: `${1_767_225_600_000_000_000n + BigInt(number)}`,
    endTimeUnixNano: "1767225609000000000",
    attributes: [
      ...(scope === "ai" ? [text("ai.operationId", name)] : []),
      ...(tokens ?? []).map((count, at) => ({
        key: `gen_ai.usage.${["input", "output"][at]}_tokens`,
        value: { intValue: count },
      })),
      ...(tokens === undefined ? [] : [text("gen_ai.response.model", "gpt-4o")]),
      ...(responseId === undefined ? [] : [text("gen_ai.response.id", responseId)]),
    ],
  }));
  return { scope: { name: scope }, spans };
}

interface Case {
  readonly what: string;
  readonly scope: string;
  readonly drafts: readonly Draft[];
  readonly total: readonly [prompt: number, completion: number];
}

const cases = (
  [
    [
      "a streamed step of the AI SDK whose tool calls a model",
      "ai",
      [
        [null, "ai.streamText", [301, 61]],
        [0, "ai.streamText.doStream", [140, 32], A],
        [1, "ai.toolCall"],
        [2, "ai.generateText", [153, 39]],
        [3, "ai.generateText.doGenerate", [153, 39], B],
        [0, "ai.streamText.doStream", [161, 29], C],
      ],
      [140 + 153 + 161, 32 + 39 + 29],
    ],
    [
      "the same without ids",
      "ai",
      [
        [null, "ai.streamText.doStream", [140, 32]],
        [0, "ai.toolCall"],
        [1, "ai.embed.doEmbed", [70, 0]],
      ],
      [210, 32],
    ],
    [
      "a span with an id of its own above a larger one",
      "anybody",
      [
        [null, "chat", [20, 4], A],
        [0, "tool"],
        [1, "chat", [900, 300], B],
      ],
      [920, 304],
    ],
    [
      "a span with an id of its own above one without",
      "anybody",
      [
        [null, "chat", [20, 4], A],
        [0, "chat", [900, 300]],
      ],
      [920, 304],
    ],
    [
      "a span whose completion a sibling reports too, above another completion",
      "anybody",
      [
        [null, "agent"],
        [0, "chat", [20, 4], A],
        [1, "chat", [900, 300], B],
        [0, "request", [20, 4], A],
      ],
      [920, 304],
    ],
    [
      "a wrapper with the sum, and the id of its last completion",
      "anybody",
      [
        [null, "run", [920, 304], B],
        [0, "chat", [20, 4], A],
        [0, "chat", [900, 300], B],
      ],
      [920, 304],
    ],
    [
      "wrappers with LangChain's id of a run",
      "anybody",
      [
        [null, "run", [920, 304], "lc_run--01a20bde-b288-75f1-843b-a8529e6244ae-0"],
        [0, "run", [920, 304], "lc_run--01a20bde-b288-75f1-843b-a8529e6244ae-0"],
        [1, "chat", [920, 304]],
      ],
      [920, 304],
    ],
    [
      "an agent with an id of its own",
      "anybody",
      [
        [null, "invoke_agent", [920, 304]],
        [0, "chat", [20, 4], A],
        [0, "chat", [900, 300], B],
      ],
      [920, 304],
    ],
  ] as readonly (readonly [string, string, readonly Draft[], Case["total"]])[]
).map(([what, scope, drafts, total]): Case => ({ what, scope, drafts, total }));

it("each completion of a trace counts once", async () => {
  const project_id = "acme/asks";
  const resource = { attributes: [text("sumtree.project", project_id)] };
  const sent = await test.post("/otel/v1/traces", {
    resourceSpans: [{ resource, scopeSpans: cases.map(spansOf) }],
  });
  expect([sent.status, sent.json()]).toEqual([200, {}]);
  const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
  const stats = await test.post("/usage/stats", { project_id, ...window, group_by: ["trace_id"] });
  const { groups } = stats.json() as { groups: { key: { trace_id: string }; total: object }[] };
  for (const [place, { what, total }] of cases.entries()) {
    const trace = traceOf(place);
    const expected = { prompt_tokens: total[0], completion_tokens: total[1] };
    const usage = await test.post("/trace/usage", { project_id, filter: { trace_ids: [trace] } });
    expect(usage.json().call_usage[idOf(0)], what).toMatchObject({ "gpt-4o": expected });
    expect(groups.find(({ key }) => key.trace_id === trace)?.total, what).toMatchObject(expected);
  }
});
