import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { assertNever } from "../../src/shared/assert-never.ts";
import { taskOf } from "./in-child.ts";

interface Common {
  /** Called in turn, A B A B …, so that a machine that slows down slows both. */
  readonly sides: readonly string[];
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly uncounted: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface Load {
  /** Requests open at the same time. */
  readonly concurrent: number;
  readonly requests: number;
  /**
   * This many begin in this time, at a constant rate: clients that wait for an answer before they send the next request
   * fall into step with each other, because the upstream's timers count whole milliseconds. A single client does wait.
   */
  readonly beginOverMs: number;
}

export interface Completions extends Load {
  readonly kind: "completions";
  readonly generationMs: number;
}

export interface Streams extends Load {
  readonly kind: "streams";
  readonly tokens: number;
  readonly tokenMs: number;
}

export interface Uploads {
  readonly kind: "uploads";
  readonly megabytes: number;
}

export type GatewayTask = Common & (Completions | Streams | Uploads);

export interface Sample {
  /** A stream: until its first event. A completion: its time without the time that the upstream reports. */
  readonly ms: number;
  readonly gapsMs: readonly number[];
}

/** By side, then by round. */
export type Samples = readonly (readonly (readonly Sample[])[])[];

const task = taskOf<GatewayTask>();
const dispatcher = new Agent({ connections: 4000, headersTimeout: 0, bodyTimeout: 0 });
const messages = [{ role: "user", content: "word ".repeat(200) }];

const samples: Sample[][][] = task.sides.map(() => []);
for (let round = -task.uncounted; round < task.rounds; round++) {
  for (const [at, base] of task.sides.entries()) {
    const measured = await measure(base);
    if (round >= 0) samples[at]!.push(measured);
  }
}
process.stdout.write(JSON.stringify(samples satisfies Samples), () => process.exit());

async function measure(base: string): Promise<Sample[]> {
  switch (task.kind) {
    case "completions":
      return underLoad(task, () => complete(base, task.generationMs));
    case "streams":
      return underLoad(task, () => stream(base, task));
    case "uploads":
      return [await upload(base, task.megabytes)];
    default:
      return assertNever(task);
  }
}

async function post(url: string, body: string | Readable, length?: number) {
  const headers = length === undefined ? task.headers : { ...task.headers, "content-length": String(length) };
  const response = await request(url, { method: "POST", headers, body, dispatcher });
  // the stand-in reads an upload, then answers 404 for the unknown model
  const expected = length === undefined ? 200 : 404;
  if (response.statusCode !== expected) throw new Error(`${url} answered ${response.statusCode}`);
  return response;
}

async function complete(base: string, generationMs: number): Promise<Sample> {
  const asked = {
    model: "m",
    messages,
    user: "bench",
    max_tokens: 1,
    vllm_xargs: { delay_ms: generationMs },
  };
  const body = JSON.stringify(asked);
  const began = performance.now();
  const response = await post(`${base}/chat/completions`, body);
  await response.body.text();
  const ms = performance.now() - began;
  return { ms: ms - Number(response.headers["openai-processing-ms"]), gapsMs: [] };
}

async function stream(base: string, { tokens, tokenMs }: Streams): Promise<Sample> {
  const asked = { model: "m", messages, stream: true, max_tokens: tokens, vllm_xargs: { delay_ms: tokenMs } };
  const body = JSON.stringify(asked);
  const began = performance.now();
  const response = await post(`${base}/chat/completions`, body);
  const arrivedMs: number[] = [];
  let end = "";
  for await (const part of response.body as AsyncIterable<Buffer>) {
    arrivedMs.push(performance.now());
    end = part.toString();
  }
  if (!end.endsWith("data: [DONE]\n\n")) throw new Error(`${base} did not end its stream`);
  return {
    ms: arrivedMs[0]! - began,
    gapsMs: arrivedMs.slice(1).map((at, before) => at - arrivedMs[before]!),
  };
}

async function upload(base: string, megabytes: number): Promise<Sample> {
  const megabyte = Buffer.alloc(2 ** 20, "0123456789");
  const body = Readable.from(Array.from({ length: megabytes }, () => megabyte));
  const began = performance.now();
  const response = await post(`${base}/preview/training-jobs`, body, megabytes * megabyte.length);
  await response.body.text();
  return { ms: performance.now() - began, gapsMs: [] };
}

async function underLoad(
  { concurrent, requests, beginOverMs }: Load,
  work: () => Promise<Sample>,
): Promise<Sample[]> {
  const open: Promise<Sample>[] = [];
  const began = performance.now();
  for (let number = 0; number < requests; number++) {
    if (concurrent === 1) await open.at(-1);
    const waitMs = began + (beginOverMs * number) / concurrent - performance.now();
    if (waitMs > 0) await delay(waitMs);
    open.push(work());
  }
  return Promise.all(open);
}
