import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { spreadOf, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";

const KEY = "st_bench0000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const ROUNDS = 3;

/** The same upstream, asked directly and through the gateway, each in a process of its own. */
interface Bench {
  readonly direct: string;
  readonly gateway: string;
  readonly service: ServiceProcess;
  readonly agent: Agent;
}

export const scenario: Scenario = {
  name: "gateway",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    const { child, url } = await startUpstream();
    const service = await startProcess({
      DATA_DIR: dir,
      ROOT_API_KEY: KEY,
      TRAINING_UPSTREAM_URL: url,
    });
    const agent = new Agent({ connections: 4000, headersTimeout: 0, bodyTimeout: 0 });
    const bench = { direct: url, gateway: `${service.url}/v1`, service, agent };
    try {
      return [
        ...(await wholeAnswers(bench, { concurrent: 1, requests: 1000, generationMs: 0 })),
        ...(await wholeAnswers(bench, {
          concurrent: 1,
          requests: 1000,
          generationMs: 0,
          project: "acme/bench",
        })),
        ...(await wholeAnswers(bench, { concurrent: 50, requests: 500, generationMs: 200 })),
        ...(await wholeAnswers(bench, { concurrent: 500, requests: 1000, generationMs: 2000 })),
        ...(await streams(bench, { concurrent: 1, tokens: 30, tokenMs: 5 })),
        ...(await streams(bench, { concurrent: 50, tokens: 20, tokenMs: 50 })),
        ...(await streams(bench, { concurrent: 500, tokens: 10, tokenMs: 400 })),
        ...(await manyOpenStreams(bench)),
        ...(await upload(bench)),
      ];
    } finally {
      await agent.destroy();
      await service.end("SIGTERM");
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function startUpstream(): Promise<{ child: ChildProcess; url: string }> {
  const script = join(import.meta.dirname, "../scripts/reference-upstream.ts");
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env["PATH"], PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /TRAINING_UPSTREAM_URL=(\S+)/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error("the reference upstream did not start");
}

const messages = [{ role: "user", content: "word ".repeat(200) }];

interface WholeAnswers {
  readonly concurrent: number;
  readonly requests: number;
  readonly generationMs: number;
  readonly project?: string;
}

/** Completions that are not streamed: median and 99th percentile of the whole request. */
async function wholeAnswers(
  { direct, gateway, agent }: Bench,
  { concurrent, requests, generationMs, project }: WholeAnswers,
): Promise<ScenarioResult[]> {
  const body = JSON.stringify({
    model: "m",
    messages,
    max_tokens: 1,
    vllm_xargs: { delay_ms: generationMs },
  });
  const named = project === undefined ? headers : { ...headers, "openai-project": project };
  const one = async (base: string): Promise<number> => {
    const began = performance.now();
    const answer = await request(`${base}/chat/completions`, {
      method: "POST",
      headers: named,
      body,
      dispatcher: agent,
    });
    await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${base} answered ${answer.statusCode}`);
    return performance.now() - began;
  };
  const { subject, against } = await inTurn(ROUNDS, [gateway, direct], (base) =>
    underLoad({ concurrent, requests, eachMs: generationMs }, () => one(base)),
  );
  const what = `completion, ${concurrent} at once${project === undefined ? "" : ", recorded"}`;
  return [
    added(0.3, `${what}, p50`, percentile(subject, 50), percentile(against, 50)),
    added(undefined, `${what}, p99`, percentile(subject, 99), percentile(against, 99)),
  ];
}

interface Streams {
  readonly concurrent: number;
  readonly tokens: number;
  readonly tokenMs: number;
}

interface StreamTimes {
  readonly firstByteMs: number;
  readonly gapsMs: readonly number[];
}

/** Streamed completions: when the first event is there, and how far apart the events are. */
async function streams(
  { direct, gateway, agent }: Bench,
  { concurrent, tokens, tokenMs }: Streams,
): Promise<ScenarioResult[]> {
  const body = streamBody(tokens, tokenMs);
  const { subject, against } = await inTurn(ROUNDS, [gateway, direct], (base) =>
    underLoad({ concurrent, requests: Math.max(concurrent, 20), eachMs: tokens * tokenMs }, () =>
      readStream(base, body, agent),
    ),
  );
  const first = (runs: readonly StreamTimes[][]) => runs.map((run) => run.map((one) => one.firstByteMs));
  const gaps = (runs: readonly StreamTimes[][]) => runs.map((run) => run.flatMap((one) => one.gapsMs));
  const what = `stream, ${concurrent} at once`;
  return [
    added(1, `${what}, first event p50`, percentile(first(subject), 50), percentile(first(against), 50)),
    added(
      undefined,
      `${what}, first event p99`,
      percentile(first(subject), 99),
      percentile(first(against), 99),
    ),
    added(0.3, `${what}, gap p50`, percentile(gaps(subject), 50), percentile(gaps(against), 50)),
    added(undefined, `${what}, gap p99`, percentile(gaps(subject), 99), percentile(gaps(against), 99)),
  ];
}

function streamBody(tokens: number, tokenMs: number): string {
  return JSON.stringify({
    model: "m",
    messages,
    stream: true,
    max_tokens: tokens,
    vllm_xargs: { delay_ms: tokenMs },
  });
}

async function readStream(base: string, body: string, agent: Agent): Promise<StreamTimes> {
  const began = performance.now();
  const answer = await request(`${base}/chat/completions`, {
    method: "POST",
    headers,
    body,
    dispatcher: agent,
  });
  let firstByteMs: number | undefined;
  const gapsMs: number[] = [];
  let last = 0;
  let end = "";
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    const now = performance.now();
    if (firstByteMs === undefined) firstByteMs = now - began;
    else gapsMs.push(now - last);
    last = now;
    end = part.toString();
  }
  if (!end.endsWith("data: [DONE]\n\n")) throw new Error(`${base} did not end its stream`);
  return { firstByteMs: firstByteMs ?? Number.NaN, gapsMs };
}

const OPEN_STREAMS = 2000;

async function manyOpenStreams({ gateway, service, agent }: Bench): Promise<ScenarioResult[]> {
  const before = await metric(service, "process_resident_memory_bytes");
  const body = streamBody(10, 1000);
  let finished = 0;
  const all = Promise.all(
    Array.from({ length: OPEN_STREAMS }, async () => {
      await readStream(gateway, body, agent);
      finished++;
    }),
  );
  let open = 0;
  let memory = before;
  const watch = setInterval(() => {
    void Promise.all([
      metric(service, "sumtree_gateway_open_requests"),
      metric(service, "process_resident_memory_bytes"),
    ]).then(([now, bytes]) => {
      open = Math.max(open, now);
      memory = Math.max(memory, bytes);
    });
  }, 500);
  await all;
  clearInterval(watch);
  return [
    alone(`${OPEN_STREAMS} streams: finished in good order`, finished, "streams", finished === OPEN_STREAMS),
    alone(`${OPEN_STREAMS} streams: open at the same time`, open, "streams", open >= OPEN_STREAMS),
    alone(
      `${OPEN_STREAMS} streams: memory above idle`,
      (memory - before) / 2 ** 20,
      "MB",
      memory - before < 2 ** 28,
    ),
  ];
}

const UPLOAD_MEGABYTES = 100;

async function upload({ direct, gateway, service, agent }: Bench): Promise<ScenarioResult[]> {
  const megabyte = Buffer.alloc(2 ** 20, "0123456789");
  const once100 = async (base: string): Promise<number> => {
    const began = performance.now();
    const answer = await request(`${base}/preview/training-jobs`, {
      method: "POST",
      headers: { ...headers, "content-length": String(UPLOAD_MEGABYTES * megabyte.length) },
      body: Readable.from(Array.from({ length: UPLOAD_MEGABYTES }, () => megabyte)),
      dispatcher: agent,
    });
    await answer.body.text();
    return performance.now() - began;
  };
  await once100(gateway);
  const before = await metric(service, "process_resident_memory_bytes");
  const curve: number[] = [];
  const watch = setInterval(() => {
    void metric(service, "process_resident_memory_bytes").then((bytes) => curve.push(bytes / 2 ** 20));
  }, 50);
  const { subject, against } = await inTurn(ROUNDS, [gateway, direct], async (base) => [await once100(base)]);
  clearInterval(watch);
  const growth = Math.max(...curve) - before / 2 ** 20;
  console.error(`memory during ${ROUNDS + 1} uploads, MB: ${curve.map((at) => at.toFixed(0)).join(" ")}`);
  return [
    {
      what: `upload of ${UPLOAD_MEGABYTES} MB`,
      subject: percentile(subject, 50),
      against: { what: "directly", spread: percentile(against, 50) },
      unit: "ms",
      target: "–",
      met: true,
    },
    alone(`upload of ${UPLOAD_MEGABYTES} MB: memory above that before`, growth, "MB", growth < 64),
  ];
}

async function metric(service: ServiceProcess, name: string): Promise<number> {
  const answer = await request(`${service.url}/metrics`, { headers });
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.body.text())?.[1];
  return Number(value);
}

interface Load {
  /** Requests open at the same time. */
  readonly concurrent: number;
  readonly requests: number;
  /** About how long one takes: the first ones begin spread over it, or all would come in waves. */
  readonly eachMs: number;
}

async function underLoad<Result>(
  { concurrent, requests, eachMs }: Load,
  work: () => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let left = requests;
  const worker = async (_: unknown, index: number): Promise<void> => {
    await delay((eachMs * index) / concurrent);
    while (left-- > 0) results.push(await work());
  };
  await Promise.all(Array.from({ length: concurrent }, worker));
  return results;
}

/** A B A B …, so that a machine that slows down slows both; one round before, uncounted. */
async function inTurn<Result>(
  rounds: number,
  [first, second]: readonly [string, string],
  work: (base: string) => Promise<Result[]>,
): Promise<{ subject: Result[][]; against: Result[][] }> {
  const subject: Result[][] = [];
  const against: Result[][] = [];
  for (let round = -1; round < rounds; round++) {
    const [ours, theirs] = [await work(first), await work(second)];
    if (round < 0) continue;
    subject.push(ours);
    against.push(theirs);
  }
  return { subject, against };
}

/** A percentile of each round, as a spread over the rounds. */
function percentile(rounds: readonly (readonly number[])[], percent: number): Spread {
  return spreadOf(
    rounds.map((samples) => {
      const sorted = samples.toSorted((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!;
    }),
  );
}

function added(limitMs: number | undefined, what: string, subject: Spread, direct: Spread): ScenarioResult {
  const addedMs = subject.median - direct.median;
  return {
    what,
    subject,
    against: { what: "directly", spread: direct },
    unit: "ms",
    target: `${limitMs === undefined ? "–" : `≤ ${limitMs} ms more`} (${addedMs.toFixed(2)})`,
    met: limitMs === undefined || addedMs <= limitMs,
  };
}

function alone(what: string, value: number, unit: ScenarioResult["unit"], met: boolean): ScenarioResult {
  return {
    what,
    subject: { median: value, min: value, max: value },
    against: undefined,
    unit,
    target: "–",
    met,
  };
}
