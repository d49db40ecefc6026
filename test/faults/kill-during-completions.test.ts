import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(1, 8);
const CLIENTS = 12;
const random = seededRandom();

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-completions-"));
const project_id = "acme/kill";
let upstream: ReferenceUpstream;
beforeAll(async () => {
  upstream = await startReferenceUpstream();
});
afterAll(async () => {
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Usage in the responses that clients received, by call; `undefined` for a truncated response. */
const seen = new Map<string, Usage | undefined>();

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;

function requestBody(): string {
  const isLong = random.next() < 0.1;
  return JSON.stringify({
    model: "forest-1",
    messages: [{ role: "user", content: "word ".repeat(isLong ? 20_000 : Math.ceil(random.next() * 100)) }],
    max_tokens: Math.ceil(random.next() * (isLong ? 5000 : 30)),
    ...pick([{}, { stream: true, stream_options: { include_usage: true } }]),
    vllm_xargs: { delay_ms: pick([0, 0, 0, 1, 20]) },
  });
}

/** Some responses are compressed, though nobody asked for that. */
function compressOne(): void {
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  const message = { role: "assistant", content: "word ".repeat(3000) };
  const completion = {
    id: "c",
    model: "forest-1",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
  };
  const bytes = gzipSync(JSON.stringify(completion));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  upstream.fail({
    kind: "bytes",
    chunks: [bytes.subarray(0, 20), bytes.subarray(20)],
    headers,
    ending: "end",
  });
}

function counts({ prompt_tokens, completion_tokens, total_tokens }: Usage): Usage {
  return { prompt_tokens, completion_tokens, total_tokens };
}

/** The count that a client reads in a response of any kind. */
function usageIn({ headers, body }: RawResponse): Usage {
  const text = (headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString("utf8");
  if (!headers["content-type"]!.startsWith("text/event-stream"))
    return (JSON.parse(text) as { usage: Usage }).usage;
  const chunks = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  const usages = chunks.map((event) => (JSON.parse(event.slice(6)) as { usage?: Usage }).usage);
  return usages.findLast((usage) => usage != null)!;
}

async function complete(port: number): Promise<boolean> {
  if (random.next() < 0.1) compressOne();
  const body = requestBody();
  const lines = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: x",
    `authorization: Bearer ${ROOT_KEY}`,
    `openai-project: ${project_id}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const response = await sendRaw(port, head(...lines), body).answer;
  const id = response.headers["x-sumtree-call-id"];
  if (response.status !== 200 || id === undefined) return false;
  seen.set(id, response.complete ? counts(usageIn(response)) : undefined);
  return response.complete;
}

async function client(port: number): Promise<void> {
  while (await complete(port));
}

async function metric(service: ServiceProcess, name: string): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const completions = "sumtree_gateway_completions";
const isRecorded = async (service: ServiceProcess): Promise<boolean> =>
  (await metric(service, `${completions}_pending`)) === 0;

interface Stored {
  readonly id: string;
  readonly ended_at: string | null;
  readonly exception: string | null;
  readonly attributes: { readonly sumtree: { readonly outcome: string; readonly usage: string } };
  readonly summary: { readonly usage: Readonly<Record<string, Usage>> };
}

async function storedCalls(service: ServiceProcess): Promise<Stored[]> {
  const response = await service.post("/calls/stream_query", { project_id });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Stored);
}

/** Converts a stored call to the form of `seen`; "cut" if the gateway counted the usage. */
function asSeen({ summary, attributes }: Stored): Usage | "cut" {
  const [used] = Object.values(summary.usage);
  if (attributes.sumtree.outcome !== "finished" || used === undefined) return "cut";
  return counts(used);
}

describe(`kill -9 during completions (seed ${random.seed})`, () => {
  it(
    `keeps each completion that a client received completely, once, over ${KILLS} kills`,
    { timeout: 300_000 },
    async () => {
      const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, TRAINING_UPSTREAM_URL: upstream.url };
      let recovered = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const service = await startProcess(settings);
        await until(() => isRecorded(service));
        recovered += await metric(service, `${completions}_recovered_total`);
        const clients = Array.from({ length: CLIENTS }, () => client(Number(new URL(service.url).port)));
        const enough = seen.size + 20 + random.next() * 100;
        await until(() => seen.size > enough);
        await delay(random.next() * 150);
        await service.end("SIGKILL");
        await Promise.all(clients);
      }

      const service = await startProcess(settings);
      await until(() => isRecorded(service));
      recovered += await metric(service, `${completions}_recovered_total`);

      const stored = await storedCalls(service);
      const byId = new Map(stored.map((call) => [call.id, call]));
      expect(stored.length).toBe(byId.size);
      expect(stored.length).toBeLessThanOrEqual(upstream.seen.length);
      const wrong = [...seen].filter(([id, usage]) => {
        const call = byId.get(id);
        // a start is journaled a moment after it is sent: the kill may come between a head and that
        if (call === undefined) return usage !== undefined;
        return usage !== undefined && JSON.stringify(asSeen(call)) !== JSON.stringify(usage);
      });
      expect(wrong).toEqual([]);
      expect(recovered).toBeGreaterThan(0);
      expect(stored.filter(({ ended_at }) => ended_at === null)).toEqual([]);
      const cut = stored.filter(({ attributes }) => attributes.sumtree.outcome !== "finished");
      expect(
        new Set(cut.map(({ attributes, exception }) => `${attributes.sumtree.usage}: ${exception}`)),
      ).toEqual(new Set(["estimated: The gateway was killed before the completion ended."]));
      expect(await service.end("SIGTERM")).toBe(0);

      const again = await startProcess(settings);
      expect(await metric(again, `${completions}_recovered_total`)).toBe(0);
      expect(await again.end("SIGTERM")).toBe(0);
    },
  );
});
