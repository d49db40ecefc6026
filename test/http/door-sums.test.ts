import { createServer, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerOf, type Json } from "../helpers/reference-upstream/models.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const PROJECT = "acme/sums";
const ASKED: Readonly<Record<string, Json>> = {
  "/responses": { model: "gpt-5", input: "Hello" },
  "/messages": { model: "claude-a", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] },
  "/completions": { model: "gpt-3.5-turbo-instruct", prompt: "Hello" },
  "/embeddings": { model: "text-embedding-3-small", input: "Hello" },
};

const seeded = seededRandom();
const random = (): number => seeded.next();
const upTo = (most: number): number => 1 + Math.floor(random() * most);
const served = { prompt: 0, completion: 0, answers: 0 };
const background = new Map<string, Json>();
let provider: Server;
let test: TestApp;
let port: number;
let made = 0;

function respond(path: string, body: Json, answer: ServerResponse): void {
  const counts = { input: upTo(1000), cached: 0, written: 0, output: upTo(1000) };
  const one = answerOf(path, body, counts)!;
  answer.setHeader("content-type", one.type);
  const id = `x1Y2z3A4b5C6d7E8f${made++}`;
  served.prompt += one.served["prompt_tokens"] ?? 0;
  served.completion += one.served["completion_tokens"] ?? 0;
  served.answers++;
  answer.end(one.pieces.join("").replaceAll('"resp_1"', `"resp_${id}"`).replaceAll('"msg_1"', `"msg_${id}"`));
}

function respondInBackground(id: string | undefined, answer: ServerResponse): void {
  const name = id ?? `resp_b1Y2z3A4b5C6d7E8f${made++}`;
  const known = background.get(name);
  const begun = { id: name, object: "response", background: true, model: "gpt-5", output: [], usage: null };
  let now: Json = known ?? { ...begun, status: "queued" };
  if (known?.["status"] === "queued" && random() < 0.4) {
    const [input, output] = [upTo(1000), upTo(1000)];
    served.prompt += input;
    served.completion += output;
    served.answers++;
    now = { ...known, status: "completed", usage: { input_tokens: input, output_tokens: output } };
  }
  background.set(name, now);
  answer.setHeader("content-type", "application/json");
  answer.end(JSON.stringify(now));
}

beforeAll(async () => {
  provider = createServer((asked, answer) => {
    const parts: Buffer[] = [];
    asked.on("data", (part: Buffer) => parts.push(part));
    asked.on("end", () => {
      const path = asked.url!.slice("/v1".length);
      const body = (parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString())) as Json;
      const [, id] = /^\/responses\/(.+)$/.exec(path) ?? [];
      if (asked.headers["x-client-request-id"] === "fail") answer.writeHead(503).end("{}");
      // somebody will leave
      else if (asked.headers["x-client-request-id"] === "hang") answer.writeHead(200).flushHeaders();
      else if (id !== undefined || body["background"] === true) respondInBackground(id, answer);
      else respond(path, body, answer);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url } });
  port = Number(new URL(await test.app.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

type Fate = "answer" | "fail" | "hang";

function ask(path: string, body: Json | undefined, fate: Fate = "answer"): Promise<Json> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${ROOT_KEY}`,
      "content-type": "application/json",
      "x-sumtree-project": PROJECT,
      "x-client-request-id": fate,
    };
    const method = body === undefined ? "GET" : "POST";
    const sent = request({ port, path: `/v1${path}`, method, headers }, (response) => {
      const parts: Buffer[] = [];
      if (fate === "hang") sent.destroy();
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", () => undefined);
      response.on("close", () => {
        const text = Buffer.concat(parts).toString();
        resolve(text.startsWith("{") ? (JSON.parse(text) as Json) : {});
      });
    });
    sent.on("error", () => resolve({}));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function oneClient(requests: number): Promise<number> {
  let calls = 0;
  for (let left = requests; left > 0; left--) {
    const paths = Object.keys(ASKED);
    const path = paths[Math.floor(random() * paths.length)]!;
    const body = { ...ASKED[path], ...(path !== "/embeddings" && random() < 0.5 ? { stream: true } : {}) };
    const dice = random();
    calls++;
    if (dice < 0.2) {
      const { id } = await ask("/responses", { ...ASKED["/responses"], background: true });
      for (let polls = upTo(6); polls > 0; polls--, left--) await ask(`/responses/${String(id)}`, undefined);
    } else if (dice < 0.3) {
      await ask(path, body, "fail");
      await ask(path, body);
      calls++;
    } else await ask(path, body, dice < 0.4 ? "hang" : "answer");
  }
  return calls;
}

interface StoredCall {
  readonly attributes: { readonly sumtree: { readonly usage: string } };
  readonly summary: { readonly usage?: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

it(
  "what is recorded is what was served, with retries, polls and clients that leave",
  { timeout: 600_000 },
  async () => {
    const clients = 20;
    const counts = await Promise.all(
      Array.from({ length: clients }, () => oneClient(runs(300, 10_000) / clients)),
    );
    const calls = counts.reduce((sum, count) => sum + count, 0);
    const ended = [...background.values()].filter(({ status }) => status === "completed").length;
    let stored: StoredCall[] = [];
    await until(async () => {
      const { text } = await test.post("/calls/stream_query", { project_id: PROJECT });
      const lines = text.split("\n").filter((line) => line !== "");
      stored = lines.map((line) => JSON.parse(line) as StoredCall);
      const exact = stored.filter(({ attributes }) => attributes.sumtree.usage === "exact");
      return stored.length >= calls && exact.length >= served.answers;
    });
    expect(ended).toBeGreaterThan(0);
    expect(stored).toHaveLength(calls);
    const exact = stored.filter(({ attributes }) => attributes.sumtree.usage === "exact");
    expect(exact).toHaveLength(served.answers);
    const used = exact.flatMap(({ summary }) => Object.values(summary.usage ?? {}));
    const sumOf = (...names: string[]): number =>
      used.reduce(
        (sum, one) => sum + (names.map((name) => one[name]).find((count) => count !== undefined) ?? 0),
        0,
      );
    expect(sumOf("prompt_tokens", "input_tokens")).toBe(served.prompt);
    expect(sumOf("completion_tokens", "output_tokens")).toBe(served.completion);
    // in sums over everything, what was estimated is beside it
    const { call_usage } = (
      await test.post("/trace/usage", { project_id: PROJECT, limit: 10_000 })
    ).json() as {
      call_usage: Record<string, Record<string, { requests: number }>>;
    };
    expect(Object.keys(call_usage).length).toBeGreaterThan(0);
  },
);
