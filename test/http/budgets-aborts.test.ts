import type { ServerResponse } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  budgetsOf,
  NOTHING,
  outcomeOf,
  overIn,
  sendChat,
  setBudget,
  settledBudget,
  statesOf,
  usedIn,
} from "../helpers/budgeted.ts";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { callsOf, nothingLeft, usageOf } from "../helpers/recorded-calls.ts";
import { answerOf, type Json } from "../helpers/reference-upstream/models.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const REQUESTS = runs(24, 1500);
const AT_ONCE = 24;
const random = seededRandom();
const below = (count: number): number => Math.floor(random.next() * count);
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;

/** What the provider does after some pieces of its response. */
interface Play {
  readonly id: string;
  readonly kind: "whole" | "reset" | "hang" | "clean" | "mid" | "500" | "429" | "html" | "none";
  readonly pieces: number;
}
const ERRORS = {
  "500": [500, "application/json", '{"error":{"message":"No.","type":"server_error"}}'],
  "429": [429, "application/json", '{"error":{"message":"Slow down.","type":"rate_limit_error"}}'],
  html: [524, "text/html", "<html><body>A timeout occurred</body></html>"],
} as const;

let test: ProvidedApp;
const seen = new Set<string>();
/** Requests that wait for `release`. */
let release = Promise.withResolvers<void>();
let answers = 0;
const flushed = (response: ServerResponse, text: string): Promise<void> =>
  new Promise((resolve) => response.write(text, () => setImmediate(resolve)));

async function answer(path: string, asked: Json, response: ServerResponse): Promise<unknown> {
  const { id, kind, pieces: count } = asked["play"] as Play;
  seen.add(id);
  if (kind === "none") await release.promise;
  if (kind === "500" || kind === "429" || kind === "html") {
    const [status, type, body] = ERRORS[kind];
    return response.writeHead(status, { "content-type": type }).end(body);
  }
  const { type, pieces } = answerOf(path, asked)!;
  const own = (asked["answer"] as string | undefined) ?? `_0aB1cD2eF3gH4iJ5k${answers++}`;
  const all = pieces.map((piece) => piece.replaceAll(/(?<="(?:resp|msg|chatcmpl))[-_]1(?=")/g, own));
  const isWhole = kind === "whole" || kind === "none";
  if (!isWhole && count === 0) return kind === "hang" ? undefined : response.socket!.resetAndDestroy();
  response.writeHead(200, { "content-type": type });
  for (const piece of isWhole ? all : all.slice(0, count)) await flushed(response, piece);
  if (kind === "hang") return undefined;
  if (kind === "reset") return response.socket!.resetAndDestroy();
  if (kind === "mid") await flushed(response, 'data: {"half":');
  return response.end();
}

beforeAll(async () => {
  test = await startProvided(
    ({ url, body }, response) =>
      answer(url.slice("/v1".length), JSON.parse(body.toString()) as Json, response),
    (origin) => ({
      CHAT_UPSTREAM_URL: `${origin}/v1`,
      ANTHROPIC_UPSTREAM_URL: `${origin}/v1`,
      GEMINI_UPSTREAM_URL: "http://127.0.0.1:9",
      GATEWAY_PASSTHROUGH_PATHS: "/",
    }),
  );
});
afterAll(() => test.close());

const LEAVES = ["in the body", "at once", "once sent", "in the response", "at the last", "never"] as const;
const APIS: readonly ((text: string, user: string) => readonly [string, Json])[] = [
  (text, user) => [
    "/chat/completions",
    { user, max_tokens: 20, messages: [{ role: "user", content: text }] },
  ],
  (text, user) => ["/responses", { safety_identifier: user, max_output_tokens: 20, input: text }],
  (text, user) => [
    "/messages",
    { metadata: { user_id: user }, max_tokens: 20, messages: [{ role: "user", content: text }] },
  ],
];

interface Sent {
  readonly path: string;
  readonly body: Json;
  readonly play: Play;
  readonly leave: (typeof LEAVES)[number];
  readonly session: string;
}

function draw(): Sent {
  const leave = pick(LEAVES);
  const kinds: readonly Play["kind"][] = ["whole", "whole", "reset", "clean", "mid", "500", "429", "html"];
  const mayHang = leave === "once sent" || leave === "in the response";
  const play: Play = {
    id: String(random.next()),
    kind: pick(mayHang ? [...kinds, "hang"] : kinds),
    pieces: below(9),
  };
  const [path, body] = pick(APIS)("words ".repeat(40 + below(40)), pick(["ada", "ben", "cyd"]));
  const model = pick(["gpt-4o", "gpt-5", "claude-sonnet-4-5"]);
  const stream = below(4) > 0;
  return { path, body: { ...body, model, stream, play }, play, leave, session: pick(["s1", "s2"]) };
}

/** Sends a request and leaves when it is drawn to; resolves when the connection is over. */
async function exchange(project: string, { path, body, play, leave, session }: Sent): Promise<void> {
  const text = JSON.stringify(body);
  const lines = [
    `POST /v1${path} HTTP/1.1`,
    "host: g",
    `authorization: Bearer ${ROOT_KEY}`,
    `x-sumtree-project: ${project}`,
    `x-session-id: ${session}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  const sent = leave === "in the body" ? text.slice(0, text.length / 2) : text;
  const { socket, received, answer: answered } = sendRaw(test.port, head(...lines), sent);
  let isOver = false;
  void answered.then(() => (isOver = true));
  const has = (pattern: RegExp): boolean => isOver || pattern.test(received().toString());
  const awaited = body["stream"] === true && play.pieces > 0 ? /\ndata:/ : /^/;
  if (leave === "once sent" || leave === "in the response") await until(() => isOver || seen.has(play.id));
  if (leave === "in the response") await until(() => has(awaited));
  if (leave === "at the last") await until(() => has(/\[DONE\]|completed"|message_stop/));
  if (leave === "in the body") await new Promise<void>((resolve) => socket.write("", () => resolve()));
  if (leave !== "never") socket.destroy();
  await answered;
}

async function exchangeAll(project: string): Promise<object[]> {
  const over: object[] = [];
  for (let left = REQUESTS; left > 0; left -= AT_ONCE) {
    const all = Array.from({ length: Math.min(AT_ONCE, left) }, draw);
    const open = all.map((one) => exchange(project, one));
    over.push(...overIn(await budgetsOf(test, project)));
    await Promise.all(open);
    over.push(...overIn(await budgetsOf(test, project)));
  }
  return over;
}

/** Compares what budgets say with the store. */
async function checkSettled(project: string): Promise<void> {
  await nothingLeft(test);
  const used = await usedIn(test, project);
  const { call_usage } = await usageOf(test, project, { include_costs: true });
  const all = Object.values(call_usage).flatMap((one) => Object.values(one));
  const sumOf = (name: string): number => all.reduce((sum, { [name]: count = 0 }) => sum + count, 0);
  expect([sumOf("requests"), sumOf("total_tokens")]).toEqual([used.requests, used.tokens]);
  const costs = [
    "prompt_tokens",
    "completion_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
  ];
  const cost = costs.reduce((sum, name) => sum + sumOf(`${name}_total_cost`), 0);
  expect(cost).toBeCloseTo(used.usd, 12);
  for (const budget of await budgetsOf(test, project)) {
    const states = statesOf(budget);
    const spentOf = (unit: keyof typeof used): number =>
      states.reduce((sum, { spent }) => sum + spent[unit], 0);
    expect(states.map(({ held }) => held)).toEqual(states.map(() => NOTHING));
    expect([spentOf("requests"), spentOf("tokens")]).toEqual([used.requests, used.tokens]);
    expect(spentOf("usd")).toBeCloseTo(used.usd, 12);
  }
}

const SCOPES = ["project", "api_key", "svc_user_id", "thread_id", "llm"];

describe(`${REQUESTS} requests that end in any phase (seed ${random.seed})`, () => {
  it("leave nothing held, and spent is what is stored", async () => {
    const project = "acme/aborted";
    for (const scope of SCOPES) await setBudget(test, project, { scope, limit: { usd: 1000, tokens: 1e8 } });
    expect(await exchangeAll(project)).toEqual([]);
    await checkSettled(project);
    const outcomes = new Set(
      (await callsOf(test, project)).map(({ attributes }) => attributes.sumtree["outcome"]),
    );
    expect(outcomes).toEqual(new Set(["finished", "aborted", "upstream_cut", "error"]));
  });

  it("are never above limits that they reach", async () => {
    const project = "acme/aborted-tight";
    await setBudget(test, project, { limit: { usd: 0.05 }, window: "week" });
    await setBudget(test, project, { scope: "svc_user_id", limit: { tokens: 4000 } });
    await setBudget(test, project, { scope: "llm", limit: { requests: 25, tokens: 6000 } });
    expect(await exchangeAll(project)).toEqual([]);
    await checkSettled(project);
    expect(overIn(await budgetsOf(test, project))).toEqual([]);
  });
});

let plays = 0;
const waiting = (): Json => ({
  play: { id: `waiting-${plays++}`, kind: "none", pieces: 0 },
});
const passing = (): Json => ({
  play: { id: `passing-${plays++}`, kind: "whole", pieces: 0 },
});
const chat = (project: string, options: Json = passing()): Promise<Response> =>
  sendChat(`${test.origin}/v1`, project, options);
const content = "words ".repeat(40);
const messages = [{ role: "user" as const, content }];

describe("while a request is open", () => {
  it("its budget may be raised, lowered below what is held, deleted and made anew", async () => {
    const project = "acme/changed";
    const id = await setBudget(test, project, { limit: { requests: 1 } });
    const change = async (requests: number): Promise<void> => {
      const { status } = await test.post("/budget/update", { project_id: project, id, limit: { requests } });
      expect(status).toBe(200);
    };
    release = Promise.withResolvers();
    const open = [outcomeOf(chat(project, { messages, ...waiting() }))];
    await until(() => seen.has(`waiting-${plays - 1}`));
    expect(await outcomeOf(chat(project))).toBe("429 budget_held");
    await change(2);
    open.push(outcomeOf(chat(project, { messages, ...waiting() })));
    await until(() => seen.has(`waiting-${plays - 1}`));
    expect(await outcomeOf(chat(project))).toBe("429 budget_held");
    await change(0);
    expect(await outcomeOf(chat(project))).toBe("402 budget_exceeded");
    const [{ spent, held } = { spent: NOTHING, held: NOTHING }] = await budgetsOf(test, project);
    expect([spent, held.requests]).toEqual([NOTHING, 2]);
    await test.post("/budget/delete", { project_id: project, id });
    expect(await outcomeOf(chat(project, { messages, ...passing() }))).toBe("200");
    release.resolve();
    expect(await Promise.all(open)).toEqual(["200", "200"]);
    await nothingLeft(test);
    await setBudget(test, project, { limit: { requests: 3 } });
    const budget = await settledBudget(test, project);
    expect(budget.spent).toEqual(await usedIn(test, project));
    expect(budget.spent.requests).toBe(3);
    expect(await outcomeOf(chat(project))).toBe("402 budget_exceeded");
  });

  it("nothing is held twice for a response that the provider repeats for its Idempotency-Key", async () => {
    const project = "acme/repeated";
    await setBudget(test, project, { limit: { requests: 2 } });
    const body = { model: "gpt-5", max_output_tokens: 20, input: content, answer: "_0aB1cD2eF3gH4iJ5kOnce" };
    for (let time = 0; time < 3; time++) {
      const headers = {
        authorization: `Bearer ${ROOT_KEY}`,
        "content-type": "application/json",
        "x-sumtree-project": project,
        "idempotency-key": "once",
      };
      const sent = { method: "POST", headers, body: JSON.stringify({ ...body, ...passing() }) };
      expect(await outcomeOf(fetch(`${test.origin}/v1/responses`, sent))).toBe("200");
      expect((await settledBudget(test, project)).spent.requests).toBe(1);
    }
  });

  it("nothing is used by one whose provider refuses connections", async () => {
    const project = "acme/refused";
    await setBudget(test, project, { limit: { usd: 1 } });
    const response = await fetch(`${test.origin}/v1/models/gemini-2.5-flash:generateContent`, {
      method: "POST",
      headers: { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": project },
      body: JSON.stringify({
        contents: [{ parts: [{ text: content }] }],
        generationConfig: { maxOutputTokens: 9 },
      }),
    });
    expect(response.status).toBe(502);
    await response.text();
    expect((await settledBudget(test, project)).spent).toEqual(NOTHING);
  });
});

describe("SDKs", () => {
  it("send a request that is refused for good once", async () => {
    const project = "acme/sdks";
    await setBudget(test, project, { limit: { usd: 0 } });
    let requests = 0;
    const counted: typeof fetch = async (...request) => {
      requests++;
      return fetch(...request);
    };
    const headers = { "x-sumtree-project": project };
    const common = { apiKey: ROOT_KEY, defaultHeaders: headers, fetch: counted };
    const openai = new OpenAI({ ...common, baseURL: `${test.origin}/v1` });
    const anthropic = new Anthropic({ ...common, baseURL: test.origin });
    const model = "claude-sonnet-4-6";
    const sent = [
      () => openai.chat.completions.create({ model, messages }),
      () => openai.responses.create({ model, input: content }),
      () => anthropic.messages.create({ model, max_tokens: 10, messages }),
    ];
    for (const [at, send] of sent.entries()) {
      const error: unknown = await send().catch((cause: unknown) => cause);
      expect(error).toMatchObject({ status: 402 });
      expect(requests).toBe(at + 1);
    }
  });
});
