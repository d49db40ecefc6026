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
let projects = 0;

async function stored(scope: string, drafts: readonly Draft[]): Promise<string> {
  const project = `acme/asks-${++projects}`;
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const spans = drafts.map(([parent, name, tokens, responseId], number) => ({
    traceId: "0af7651916cd43dd8448eb211c80319c",
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
  const resource = { attributes: [text("sumtree.project", project)] };
  const response = await test.post("/otel/v1/traces", {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: scope }, spans }] }],
  });
  expect([response.status, response.json()]).toEqual([200, {}]);
  return project;
}

it.each<readonly [what: string, scope: string, drafts: readonly Draft[], total: readonly [number, number]]>([
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
])("%s: each completion counts once", async (_what, scope, drafts, [prompt_tokens, completion_tokens]) => {
  const project_id = await stored(scope, drafts);
  const usage = await test.post("/trace/usage", { project_id, filter: { trace_roots_only: true } });
  const expected = { prompt_tokens, completion_tokens };
  expect(usage.json().call_usage[idOf(0)]).toMatchObject({ "gpt-4o": expected });
  const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
  const stats = await test.post("/usage/stats", { project_id, ...window });
  expect(stats.json(), stats.text).toMatchObject({ total: expected });
});
