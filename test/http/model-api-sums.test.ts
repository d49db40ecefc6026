import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startProvided, type ProvidedApp, type Received } from "../helpers/provider.ts";
import { usageOf } from "../helpers/recorded-calls.ts";
import { answerOf, type Counts, type Json, type Served } from "../helpers/reference-upstream/models.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { authorization, ROOT_KEY, startAppOn, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const REQUESTS = 2000;
const CONCURRENT = 16;
const PROJECT = "acme/sums";
const random = seededRandom();
const below = (limit: number): number => Math.floor(random.next() * limit);
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)]!;

const BODIES: Readonly<Record<string, Json>> = {
  "/responses": { model: "gpt-5", input: "Hi" },
  "/messages": { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  "/chat/completions": { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }] },
  "/completions": { model: "gpt-3.5-turbo-instruct", prompt: "Hi" },
  "/embeddings": { model: "text-embedding-3-small", input: ["Hi"] },
  "/responses/compact": { model: "gpt-5-mini", input: "Hi" },
  "/images/generations": { model: "gpt-image-1", prompt: "Hi" },
};
const STREAMED = ["/responses", "/messages", "/chat/completions", "/completions", "/images/generations"];

/** `left`: the client leaves after the first event; `failed`: an error follows it; `cut`: the connection ends there. */
const KINDS = ["whole", "whole", "whole", "retried", "background", "left", "failed", "cut"] as const;

interface Plan {
  readonly kind: (typeof KINDS)[number];
  readonly path: string;
  readonly streams: boolean;
  readonly body: Json;
  readonly counts: Counts;
  /** Attempts that fail. */
  failures: number;
  /** Polls until the response has ended. */
  polls: number;
  isServed: boolean;
}

function draw(): Plan {
  const kind = oneOf(KINDS);
  const isBroken = kind === "left" || kind === "failed" || kind === "cut";
  const path = kind === "background" ? "/responses" : isBroken ? "/messages" : oneOf(Object.keys(BODIES));
  const streams = isBroken || (STREAMED.includes(path) && random.next() < 0.5);
  const counts = { input: 1 + below(9000), cached: 0, written: below(100), output: 1 + below(900) };
  return {
    kind,
    path,
    streams,
    body: {
      ...BODIES[path],
      ...(streams ? { stream: true } : {}),
      ...(kind === "background" ? { background: true } : {}),
    },
    counts: { ...counts, cached: below(counts.input) },
    failures: kind === "retried" ? 1 + below(3) : 0,
    polls: below(4),
    isServed: false,
  };
}

const plans = new Map<string, Plan>();
/** Usage that the provider told, by model. */
const served = new Map<string, Record<string, number>>();

function serve({ body }: Plan, usage: Served): void {
  const sum = served.get(String(body["model"])) ?? {};
  for (const [name, count] of Object.entries({ ...usage, requests: 1 })) sum[name] = (sum[name] ?? 0) + count;
  served.set(String(body["model"]), sum);
}

const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream" };
const eventOf = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** A response in the background, as the next poll shows it. */
function background(id: string, plan: Plan): Json {
  const { served: usage, pieces } = answerOf("/responses", { ...plan.body, stream: false }, plan.counts)!;
  const facts = { id: `resp_${id}`, background: true, created_at: Math.floor(Date.now() / 1000) };
  const whole = { ...(JSON.parse(pieces[0]!) as Json), ...facts };
  if (plan.polls-- > 0) return { ...whole, status: "in_progress", output: [], usage: null };
  if (!plan.isServed) serve(plan, usage);
  plan.isServed = true;
  return whole;
}

function create(id: string, plan: Plan, response: ServerResponse): void {
  plan.polls++;
  const made = background(id, plan);
  if (!plan.streams) return void response.writeHead(200, json).end(JSON.stringify(made));
  // the client leaves the stream
  response.writeHead(200, events).write(eventOf("response.created", { response: made }));
}

function retrieve(url: string, response: ServerResponse): void {
  const id = /resp_(\w+)/.exec(url)![1]!;
  const shown = background(id, plans.get(id)!);
  if (!url.includes("stream=true")) return void response.writeHead(200, json).end(JSON.stringify(shown));
  const type = shown["status"] === "completed" ? "response.completed" : "response.in_progress";
  response.writeHead(200, events).end(eventOf(type, { response: shown }));
}

async function answer({ url, headers: sent, body }: Received, response: ServerResponse): Promise<void> {
  if (/resp_/.test(url)) return retrieve(url, response);
  const id = String(sent["x-client-request-id"]);
  const plan = plans.get(id)!;
  if (plan.failures-- > 0)
    return void response.writeHead(oneOf([429, 500, 529]), json).end('{"error":{"message":"Later."}}');
  if (plan.kind === "background") return create(id, plan, response);
  // the gateway asks for the usage of some streams
  const asked = JSON.parse(body.toString()) as Json;
  const { type, pieces, served: usage } = answerOf(plan.path, asked, plan.counts)!;
  response.writeHead(200, { "content-type": type });
  if (plan.kind === "whole" || plan.kind === "retried") {
    serve(plan, usage);
    for (const piece of pieces) {
      response.write(piece);
      if (random.next() < 0.2) await new Promise((resolve) => setImmediate(resolve));
    }
    return void response.end();
  }
  // a message that has begun has used its input
  serve(plan, { ...usage, completion_tokens: 0, total_tokens: plan.counts.input });
  response.write(pieces[0]!);
  if (plan.kind === "failed")
    response.end(eventOf("error", { error: { type: "overloaded_error", message: "Overloaded" } }));
  if (plan.kind === "cut") setTimeout(() => response.socket?.resetAndDestroy(), 20);
}

let test: ProvidedApp;
let second: TestApp;
let bases: readonly string[];
beforeAll(async () => {
  const settingsOf = (origin: string) => ({
    CHAT_UPSTREAM_URL: `${origin}/v1`,
    ANTHROPIC_UPSTREAM_URL: `${origin}/v1`,
  });
  test = await startProvided(answer, settingsOf);
  second = await startAppOn(test.engine, { settings: settingsOf(test.provider.origin) });
  bases = [test.origin, await second.app.listen({ host: "127.0.0.1", port: 0 })].map((url) => `${url}/v1`);
});
afterAll(async () => {
  await second.close();
  await test.close();
});

const headers = { authorization: `Bearer ${ROOT_KEY}`, ...json, "x-sumtree-project": PROJECT };

/** Sends a request as its plan has it, with repetitions and polls. Returns how many calls it makes. */
async function play(id: string): Promise<number> {
  const plan = draw();
  const base = oneOf(bases);
  plans.set(id, plan);
  const leaves = plan.kind === "left" || (plan.kind === "background" && plan.streams);
  for (let attempt = 0; ; attempt++) {
    const abort = new AbortController();
    const response = await fetch(base + plan.path, {
      method: "POST",
      headers: { ...headers, "x-client-request-id": id, "x-stainless-retry-count": String(attempt) },
      body: JSON.stringify(plan.body),
      signal: abort.signal,
    });
    if (leaves) {
      await response.body!.getReader().read();
      abort.abort();
    } else await response.text().catch(() => undefined);
    if (response.status !== 200) continue;
    if (plan.kind !== "background") return attempt + 1;
    await (await fetch(`${base}/responses/resp_${id}`, { headers })).text();
    // then other replicas know it
    await until(() => isStored(`resp_${id}`));
    await poll(id, plan);
    return attempt + 1;
  }
}

async function isStored(responseId: string): Promise<boolean> {
  const query = { $expr: { $eq: [{ $getField: "output.id" }, { $literal: responseId }] } };
  return (await test.post("/calls/query_stats", { project_id: PROJECT, query })).json().count === 1;
}

/** Polls at any replica until the end is seen, and some more. */
async function poll(id: string, plan: Plan): Promise<void> {
  const path = `/responses/resp_${id}`;
  for (let more = below(3); more >= 0;) {
    if (plan.isServed) more--;
    const some = Array.from({ length: 1 + below(2) }, async () => {
      const query = random.next() < 0.3 ? "?stream=true&starting_after=0" : "";
      const answered = await fetch(`${oneOf(bases)}${path}${query}`, { headers });
      return answered.text().catch(() => undefined);
    });
    await Promise.all(some);
  }
  if (random.next() < 0.3)
    await (await fetch(`${oneOf(bases)}${path}/cancel`, { method: "POST", headers })).text();
}

async function hasRecorded({ app }: TestApp): Promise<boolean> {
  const { payload } = await app.inject({ url: "/metrics", headers: { authorization: authorization() } });
  return /sumtree_gateway_completions_pending 0\n/.test(payload);
}

it(`usage of ${REQUESTS} requests over two replicas is what the provider served (seed ${random.seed})`, async () => {
  let calls = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < REQUESTS) {
      const made = await play(`r${next++}`);
      calls += made;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  await until(async () => (await hasRecorded(test)) && (await hasRecorded(second)), 120_000);

  const asked = { project_id: PROJECT, start: "2026-01-01T00:00:00Z", group_by: ["llm"], limit: 100 };
  const stats = (await test.post("/usage/stats", asked)).json() as {
    readonly groups: readonly { key: { llm: string | null }; total: Record<string, number> }[];
    readonly total: Record<string, number>;
  };
  expect(stats.total).toMatchObject({ calls });
  // attempts that failed used no model
  const recorded = stats.groups.filter(({ key }) => key.llm !== null);
  expect(new Set(recorded.map(({ key }) => key.llm))).toEqual(new Set(served.keys()));
  for (const { key, total } of recorded) expect({ ...key, ...total }).toMatchObject(served.get(key.llm!)!);
  expect((await usageOf(test, PROJECT, { limit: 1_000_000 })).unfinished_call_ids).toEqual([]);
}, 600_000);
