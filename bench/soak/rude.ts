import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { batchOf } from "./calls.ts";
import { question } from "./completions.ts";
import type { Operation, Soak } from "./soak.ts";
import { sampleTrace } from "./sample-trace.ts";

/** Invalid requests, and how each has to be refused. */
const nonsense: readonly {
  path: string;
  body: object;
  headers?: Record<string, string>;
  statuses: number[];
}[] = [
  { path: "/call/start", body: Buffer.from('{"start": {'), statuses: [400] },
  { path: "/call/start", body: { start: { project_id: "soak/bad" } }, statuses: [422] },
  {
    path: "/trace/usage",
    body: { project_id: "soak/bad", query: { $expr: { $nope: [] } } },
    statuses: [422],
  },
  { path: "/no/such/path", body: {}, statuses: [404] },
  {
    path: "/otel/v1/traces",
    body: Buffer.from([255, 255]),
    headers: { "content-type": "application/x-protobuf" },
    statuses: [400],
  },
  {
    path: "/trace/usage",
    body: { project_id: "soak/bad" },
    headers: { authorization: "Bearer st_nobody000000_x" },
    statuses: [401, 429],
  },
  {
    path: "/call/start",
    body: { start: "x".repeat(10_000) },
    headers: { "content-type": "text/plain" },
    statuses: [415],
  },
];

export async function sendNonsense({ client }: Soak, n: number): Promise<void> {
  const { path, body, headers, statuses } = nonsense[n % nonsense.length]!;
  const { status } = await client.send("bad request", path, body, headers);
  if (!statuses.includes(status))
    throw new Error(`${path} was answered ${status} instead of ${statuses.join()}`);
}

/** Ways to disconnect too early. */
const ways: readonly Operation[] = [
  async function inTheMiddleOfAnUpload({ client, expected, random }, n) {
    const trace = sampleTrace("soak/left", `half${n}`, { calls: 20, random });
    const text = JSON.stringify(batchOf(trace));
    const sent = begin(client, "/call/upsert_batch", { "content-length": Buffer.byteLength(text) });
    sent.write(text.slice(0, text.length / 2));
    await delay(random.next() * 20);
    sent.destroy();
    expected.deny("soak/left", trace.used.keys());
  },
  async function beforeTheAnswerToAnUpload({ client, expected, random }, n) {
    const trace = sampleTrace("soak/left", `unacknowledged${n}`, { calls: 20, random });
    const sent = begin(client, "/call/upsert_batch");
    sent.end(JSON.stringify(batchOf(trace)));
    await delay(random.next() * 40);
    sent.destroy();
    expected.leave("soak/left", trace.used);
  },
  async function inTheMiddleOfAnAnswer({ client }, n) {
    const sent = begin(client, "/calls/stream_query");
    sent.end(JSON.stringify({ project_id: `soak/batches-${n % 20}`, limit: 5000 }));
    await firstBytes(sent);
    sent.destroy();
  },
  async function beforeAnAnswer({ client, random }, n) {
    const sent = begin(client, "/trace/usage");
    sent.end(JSON.stringify({ project_id: `soak/batches-${n % 20}`, include_costs: true }));
    await delay(random.next() * 100);
    sent.destroy();
  },
  async function inTheMiddleOfAStream({ client }, n) {
    const sent = begin(client, "/v1/chat/completions", {
      ...client.tokenHeaders,
      "openai-project": "soak/left",
    });
    sent.end(JSON.stringify({ ...question(n), stream: true, max_tokens: 40, vllm_xargs: { delay_ms: 20 } }));
    await firstBytes(sent);
    sent.destroy();
  },
];

export async function hangUp(soak: Soak, n: number): Promise<void> {
  const way = ways[n % ways.length]!;
  await way(soak, n);
  soak.client.saw("hang-up", way.name);
}

function begin(
  client: Soak["client"],
  path: string,
  headers: Record<string, string | number> = {},
): ClientRequest {
  const sent = request(client.url + path, { method: "POST", headers: { ...client.headers, ...headers } });
  sent.on("error", () => undefined);
  sent.on("response", (response) => response.on("error", () => undefined));
  return sent;
}

async function firstBytes(sent: ClientRequest): Promise<void> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
  await Promise.race([once(response, "data"), once(response, "close")]);
}
