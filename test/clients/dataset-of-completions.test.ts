import OpenAI from "openai";
import { isAssistantMessage, isToolMessage } from "openai/lib/chatCompletionUtils";
import { validateInputTools } from "openai/lib/parser";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../helpers/client-program.ts";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import { awaitCalls } from "../helpers/recorded-calls.ts";
import { chunksOf, completionOf, type ChatBody } from "../helpers/reference-upstream/chat.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

type Json = Readonly<Record<string, unknown>>;
const eventOf = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

let test: ProvidedApp;
let baseURL: string;
beforeAll(async () => {
  test = await startProvided(
    ({ url, body }, response) => {
      const asked = JSON.parse(body.toString()) as Json;
      const isStream = asked["stream"] === true;
      const events = url.endsWith("/responses") ? responseEvents(asked) : chatEvents(asked);
      const whole = url.endsWith("/responses") ? responseOf(asked) : completionOf(asked);
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      return response.end(isStream ? events.join("") : JSON.stringify(whole));
    },
    (origin) => ({ CHAT_UPSTREAM_URL: `${origin}/v1`, CHAT_UPSTREAM_API_KEY: "sk-operator" }),
  );
  baseURL = `${test.origin}/v1`;
});
afterAll(() => test.close());

function chatEvents(body: ChatBody): string[] {
  return [...chunksOf(body, { usageByDefault: false }).map((chunk) => eventOf(chunk)), "data: [DONE]\n\n"];
}

/** Calls its tool until it has a result; then says something. */
function itemOf({ input }: Json): Json {
  const hasResult = Array.isArray(input) && input.some(({ type }: Json) => type === "function_call_output");
  if (!hasResult)
    return {
      type: "function_call",
      id: "fc_1",
      call_id: "call_9",
      name: "find",
      arguments: '{"city":"Rome"}',
      status: "completed",
    };
  const content = [{ type: "output_text", text: "It is sunny 🌲.", annotations: [] }];
  return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
}

function responseOf(asked: Json, status = "completed"): Json {
  const usage = {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 13,
  };
  const thought = { type: "reasoning", id: "rs_1", summary: [] };
  const isOver = status === "completed";
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_767_225_600,
    model: asked["model"],
    status,
    error: null,
    incomplete_details: null,
    output: isOver ? [thought, itemOf(asked)] : [],
    usage: isOver ? usage : null,
  };
}

function responseEvents(asked: Json): string[] {
  const started = responseOf(asked, "in_progress");
  const items = responseOf(asked)["output"] as Json[];
  const events: Json[] = [
    { type: "response.created", response: started },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: responseOf(asked) },
  ];
  return events.map((event, sequence_number) =>
    eventOf({ ...event, sequence_number }, String(event["type"])),
  );
}

let projects = 0;
const newProject = (): string => `acme/examples-${projects++}`;
const clientOf = (project: string): OpenAI =>
  new OpenAI({ apiKey: ROOT_KEY, baseURL, project, maxRetries: 0 });

const parameters = { type: "object", properties: { tree: { type: "string" } } };
const tools: ChatCompletionTool[] = [
  { type: "function", function: { name: "find", description: "Finds", parameters, strict: true } },
];
const asked: ChatCompletionMessageParam[] = [
  { role: "system", content: "Be short." },
  {
    role: "user",
    content: [
      { type: "text", text: "Find it 🌲" },
      { type: "image_url", image_url: { url: "https://pictures.example/a.png", detail: "low" } },
    ],
  },
];

interface Line {
  readonly messages: ChatCompletionMessageParam[];
  readonly tools?: ChatCompletionTool[];
}

/** Returns the lines that a project's completions are exported as, once there are so many. */
async function exportedLines(project_id: string, count: number): Promise<Line[]> {
  await awaitCalls(test, project_id, count);
  const response = await test.post("/dataset/export", { project_id, format: "chat" });
  expect(response.status, response.text).toBe(200);
  const lines = response.text.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

/** A message as it stands in a request: without what only responses have. Streams join no text to an empty one. */
function asParam({ role, content, tool_calls }: OpenAI.ChatCompletionMessage): ChatCompletionMessageParam {
  const calls = tool_calls?.map((call) => {
    const { id, type, function: called } = call as OpenAI.ChatCompletionMessageFunctionToolCall;
    return { id, type, function: { name: called.name, arguments: called.arguments } };
  });
  return {
    role,
    content: content === "" ? null : content,
    ...(calls !== undefined && { tool_calls: calls }),
  };
}

/** Sends an example's messages and tools as a request; returns what came at the provider. */
async function sentAgain({ messages, tools: offered = [] }: Line): Promise<object> {
  validateInputTools(offered);
  test.provider.seen.length = 0;
  await clientOf("acme/again").chat.completions.create({ model: "m", messages, tools: offered });
  const came = JSON.parse(test.provider.seen[0]!.body.toString()) as Line;
  return { messages: came.messages, tools: came.tools };
}

describe("completions of the openai client, exported", () => {
  it.each([false, true])("are a chat with tool calls (stream: %s)", async (stream) => {
    const project = newProject();
    const client = clientOf(project);
    const complete = async (
      body: Pick<OpenAI.ChatCompletionCreateParams, "model" | "messages" | "tools">,
    ) => {
      if (stream) return client.chat.completions.stream(body).finalMessage();
      return (await client.chat.completions.create(body)).choices[0]!.message;
    };
    const called = await complete({ model: "m", messages: asked, tools });
    const result: ChatCompletionMessageParam = {
      role: "tool",
      tool_call_id: called.tool_calls![0]!.id,
      content: "It is here.",
    };
    const history = [...asked, asParam(called), result];
    const said = await complete({ model: "m", messages: history });
    const lines = await exportedLines(project, 2);
    expect(lines).toEqual([
      { messages: [...asked, asParam(called)], tools },
      { messages: [...history, asParam(said)] },
    ]);
    const { messages } = lines[1]!;
    expect([isAssistantMessage(messages.at(-1)), isToolMessage(messages.at(-2))]).toEqual([true, true]);
    expect(await sentAgain(lines[0]!)).toEqual(lines[0]);
  });

  it.each([false, true])("are a chat also where they are Responses (stream: %s)", async (stream) => {
    const project = newProject();
    const client = clientOf(project);
    const offered: FunctionTool[] = [{ type: "function", name: "find", parameters, strict: true }];
    const respond = (input: ResponseInput): Promise<Response> => {
      const body = { model: "gpt-5", instructions: "Be short.", input, tools: offered };
      if (stream) return client.responses.stream(body).finalResponse();
      return client.responses.create(body);
    };
    const question: ResponseInput = [{ role: "user", content: "Find it 🌲" }];
    const called = await respond(question);
    const call = called.output.find((item) => item.type === "function_call")!;
    const items = called.output.map((item) => {
      const { parsed_arguments: _, ...sent } = item as ResponseOutputItem & { parsed_arguments?: unknown };
      return sent;
    });
    const result = { type: "function_call_output" as const, call_id: call.call_id, output: "Here." };
    const said = await respond([...question, ...(items as ResponseInput), result]);
    const lines = await exportedLines(project, 2);
    const start = [
      { role: "system", content: "Be short." },
      { role: "user", content: "Find it 🌲" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: call.call_id, type: "function", function: { name: "find", arguments: call.arguments } },
        ],
      },
    ];
    const written = [{ type: "function", function: { name: "find", parameters, strict: true } }];
    expect(lines).toEqual([
      { messages: start, tools: written },
      {
        messages: [
          ...start,
          { role: "tool", content: "Here.", tool_call_id: call.call_id },
          { role: "assistant", content: said.output_text },
        ],
        tools: written,
      },
    ]);
    expect(await sentAgain(lines[1]!)).toEqual(lines[1]);
  });
});

describe("streams of OpenAI that the Weave SDK recorded, exported", () => {
  it("are chats, but for one whose tool calls the SDK drops", async () => {
    const project_id = "acme/weave-streams";
    const { exitCode, output } = await runProgram("weave-streams.ts", {
      WANDB_API_KEY: ROOT_KEY,
      WF_TRACE_SERVER_URL: test.origin,
      BASE_URL: `${test.provider.origin}/v1`,
      PROJECT: project_id,
    });
    expect(exitCode, output).toBe(0);
    const lines = await exportedLines(project_id, 5);
    const called = (id: string, args: string) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "find", arguments: args } }],
    });
    const said = (content: unknown) => ({ role: "assistant", content });
    expect(lines.map(({ messages }) => messages.at(-1))).toEqual([
      called("call_1", '{"tree":"sum"}'),
      said(expect.stringContaining("Every call of a trace")),
      called("call_9", '{"city":"Rome"}'),
      said("It is sunny 🌲."),
    ]);
    const { exports } = (await test.post("/dataset/query", { project_id })).json();
    expect(exports[0].counts.left_out).toEqual({ content_not_recorded: 1 });
  });
});
