import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeServer, type FakeServer } from "../helpers/fake-clickhouse-server.ts";
import { startSeverableProxy, type SeverableProxy } from "../helpers/severable-proxy.ts";
import { encodeRequest, spanInit } from "../helpers/otlp-request.ts";
import { usageOf } from "../helpers/reference-upstream/chat.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const TURNS = 5;
const project_id = "acme/away";
const dir = mkdtempSync(join(tmpdir(), "sumtree-away-"));
const keeper = new Session(join(dir, "server"));
let store: FakeServer;
let proxy: SeverableProxy;
let upstream: ReferenceUpstream;
let service: ServiceProcess;
/** A key that is kept in the store. */
let key: string;

beforeAll(async () => {
  store = await startFakeServer(join(dir, "server"));
  proxy = await startSeverableProxy(Number(new URL(store.url).port));
  upstream = await startReferenceUpstream();
  service = await startProcess({
    CLICKHOUSE_URL: `http://127.0.0.1:${proxy.port}`,
    ROOT_API_KEY: ROOT_KEY,
    TRAINING_UPSTREAM_URL: upstream.url,
  });
  const scopes = ["ingest", "calls:delete", "read", "train"];
  const made = await service.post("/api-keys", { name: "client", scopes, projects: ["acme/*"] });
  ({ key } = (await made.json()) as { key: string });
  expect((await ask("/trace/usage", { project_id })).status).toBe(200);
});
afterAll(async () => {
  await service.end("SIGKILL");
  await upstream.close();
  await store.close();
  keeper.close();
  rmSync(dir, { recursive: true, force: true });
});

type Headers = Readonly<Record<string, string>>;

function ask(path: string, body: object, headers: Headers = {}): Promise<Response> {
  const own = { authorization: authorization(key), "content-type": "application/json" };
  return fetch(service.url + path, {
    method: "POST",
    headers: { ...own, ...headers },
    body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
  });
}

const start = { project_id, id: "c", trace_id: "t", op_name: "op", started_at: "2026-01-01T00:00:00Z" };
const end = { project_id, id: "c", ended_at: "2026-01-01T00:00:01Z", summary: {} };
const spans = encodeRequest({ spans: [spanInit(1)], resource: { "sumtree.project": project_id } });
const feedback = {
  project_id,
  weave_ref: `weave:///${project_id}/call/c`,
  feedback_type: "custom",
  payload: { score: 1 },
};
const everyId = { $expr: { $eq: [{ $getField: "id" }, { $literal: "f" }] } };

const requests: [path: string, body: object, headers?: Headers][] = [
  ["/call/start", { start }],
  ["/call/end", { end }],
  ["/call/upsert_batch", { batch: [{ mode: "start", req: { start } }] }],
  [`/v2/${project_id}/calls/complete`, { batch: [{ ...start, ...end }] }],
  ["/call/update", { project_id, call_id: "c", display_name: "renamed" }],
  ["/calls/delete", { project_id, call_ids: ["never"] }],
  ["/otel/v1/traces", spans, { "content-type": "application/x-protobuf" }],
  ["/feedback/create", feedback],
  ["/feedback/batch/create", { batch: [feedback] }],
  ["/feedback/purge", { project_id, query: everyId }],
  ["/trace/usage", { project_id }],
  ["/trace/usage", { project_id, include_costs: true, query: everyId }],
  ["/calls/usage", { project_id, call_ids: ["c"] }],
  ["/calls/stream_query", { project_id }],
  ["/calls/query_stats", { project_id }],
  ["/call/read", { project_id, id: "c" }],
  ["/feedback/query", { project_id }],
  ["/feedback/stats", { project_id, start: "2026-01-01T00:00:00Z" }],
];

const chat = { model: "m", messages: [{ role: "user", content: "What did it cost?" }] };
const usage = usageOf(chat);

/** A completion as its client sees it: the id of its call. Errors: when anything is wrong with it. */
async function complete(project: string, stream: boolean): Promise<string> {
  const headers = { authorization: authorization(key, "bearer"), "openai-project": project };
  const response = await ask("/v1/chat/completions", { ...chat, stream }, headers);
  const text = await response.text();
  expect(response.status).toBe(200);
  if (stream) expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  else expect(JSON.parse(text)).toMatchObject({ usage });
  return response.headers.get("x-sumtree-call-id")!;
}

type CallUsage = Record<string, Record<string, { requests: number }>>;

async function callsOf(project: string): Promise<CallUsage> {
  const response = await ask("/trace/usage", { project_id: project, limit: 1_000_000 });
  expect(response.status).toBe(200);
  return ((await response.json()) as { call_usage: CallUsage }).call_usage;
}

async function probes(): Promise<number[]> {
  const paths = ["/healthz", "/readyz", "/metrics"];
  const headers = { authorization: authorization() };
  const responses = await Promise.all(paths.map((path) => fetch(service.url + path, { headers })));
  for (const response of responses) await response.arrayBuffer();
  return responses.map((response) => response.status);
}

describe("an unreachable store", () => {
  const ids: string[] = [];
  beforeAll(() => proxy.shut());

  it.each(requests)("%s returns 503 with Retry-After", async (path, body, headers) => {
    const response = await ask(path, body, headers);
    await response.arrayBuffer();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  });
  it("does not prevent completions, streamed or not", async () => {
    ids.push(await complete("acme/relayed", false), await complete("acme/relayed", true));
  });
  it("is reported only by /readyz", async () => {
    await expect.poll(probes).toEqual([200, 503, 200]);
  });
  it("is used again once it is back, and receives the completions of the meantime", async () => {
    await proxy.open();
    for (const [path, body, headers] of requests) {
      const response = await ask(path, body, headers);
      await response.arrayBuffer();
      expect([path, response.status]).toEqual([path, 200]);
    }
    await expect.poll(probes).toEqual([200, 200, 200]);
    await until(async () => Object.keys(await callsOf("acme/relayed")).length === ids.length);
    const calls = await callsOf("acme/relayed");
    expect(Object.keys(calls).toSorted()).toEqual(ids.toSorted());
  });
});

describe(`a store that becomes unavailable and recovers, ${TURNS} times`, () => {
  it("loses and duplicates nothing acknowledged or relayed", { timeout: 120_000 }, async () => {
    const over = new AbortController();
    const stored = new Set<string>();
    const relayed: string[] = [];
    let rejected = 0;
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n++) {
        const own = { project_id: "acme/back", id: `w${writer}-${n}` };
        const ended = { ...end, ...own, summary: { usage: { m: { requests: 1 } } } };
        const batch = [
          { mode: "start", req: { start: { ...start, ...own, trace_id: `t${writer}` } } },
          { mode: "end", req: { end: ended } },
        ];
        for (let status = 0; status !== 200;) {
          const response = await ask("/call/upsert_batch", { batch });
          await response.arrayBuffer();
          ({ status } = response);
          expect([200, 503]).toContain(status);
          if (status === 503) rejected++;
        }
        stored.add(own.id);
      }
    };
    const talk = async (stream: boolean): Promise<void> => {
      while (!over.signal.aborted) {
        relayed.push(await complete("acme/talk", stream));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const clients = [...Array.from({ length: 10 }, (_, writer) => write(writer)), talk(false), talk(true)];
    for (let turn = 0; turn < TURNS; turn++) {
      const before = { stored: stored.size, relayed: relayed.length };
      await until(() => stored.size > before.stored + 40);
      await proxy.shut();
      const away = { refused: rejected, relayed: relayed.length };
      await until(() => rejected > away.refused + 20 && relayed.length > away.relayed + 5);
      await proxy.open();
    }
    over.abort();
    await Promise.all(clients);

    const calls = await callsOf("acme/back");
    expect(new Set(Object.keys(calls))).toEqual(stored);
    expect(Object.values(calls).filter((call) => call["m"]?.requests !== 1)).toEqual([]);
    await until(async () => Object.keys(await callsOf("acme/talk")).length >= relayed.length);
    const talked = await callsOf("acme/talk");
    expect(Object.keys(talked).toSorted()).toEqual(relayed.toSorted());
    expect(Object.values(talked).flatMap((call) => Object.values(call).map((one) => one.requests))).toEqual(
      relayed.map(() => 1),
    );
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
