import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { BENCH_KEY, metric, startUpstream } from "./gateway-service.ts";
import type { Completions, GatewayTask, Sample, Samples, Streams, Uploads } from "./load/gateway-client.ts";
import { inChild } from "./load/in-child.ts";
import { processorTimeOf } from "./processor-time.ts";
import { figure, spreadOf, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";

const headers = { authorization: `Bearer ${BENCH_KEY}`, "content-type": "application/json" };

/** The same upstream, called directly and through the gateway. Both, and the client, are processes of their own. */
interface Bench {
  readonly direct: string;
  readonly gateway: string;
  readonly service: ServiceProcess;
}

export const scenario: Scenario = {
  name: "gateway",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    const { child, url } = await startUpstream();
    const service = await startProcess({
      DATA_DIR: dir,
      ROOT_API_KEY: BENCH_KEY,
      TRAINING_UPSTREAM_URL: url,
    });
    const bench = { direct: url, gateway: `${service.url}/v1`, service };
    try {
      return [
        ...(await completions(bench, { concurrent: 1, requests: 1500, generationMs: 0 })),
        ...(await completions(bench, { concurrent: 1, requests: 1500, generationMs: 0 }, "acme/bench")),
        ...(await completions(bench, { concurrent: 50, requests: 1000, generationMs: 200 })),
        ...(await completions(bench, { concurrent: 500, requests: 1000, generationMs: 2000 })),
        ...(await processorTime(bench)),
        ...(await streams(bench, { concurrent: 1, requests: 20, tokens: 30, tokenMs: 5 })),
        ...(await streams(bench, { concurrent: 50, requests: 100, tokens: 20, tokenMs: 50 })),
        ...(await streams(bench, { concurrent: 500, requests: 500, tokens: 10, tokenMs: 400 })),
        ...(await manyOpenStreams(bench)),
        ...(await upload(bench)),
      ];
    } finally {
      await service.end("SIGTERM");
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

interface Run {
  readonly subject: readonly (readonly Sample[])[];
  readonly against: readonly (readonly Sample[])[];
}

async function ask(
  { gateway, direct }: Bench,
  what: Completions | Streams | Uploads,
  { rounds = 3, project }: { rounds?: number; project?: string | undefined } = {},
): Promise<Run> {
  const task: GatewayTask = {
    ...what,
    rounds,
    uncounted: 1,
    sides: [gateway, direct],
    headers: project === undefined ? headers : { ...headers, "openai-project": project },
  };
  const [subject, against] = await inChild<Samples>("gateway-client.ts", task);
  return { subject: subject!, against: against! };
}

/**
 * Completions that are not streamed: median and 99th percentile of the whole request, less what the upstream says it
 * took. Its timers count whole milliseconds, which would hide or double what a gateway adds.
 */
async function completions(
  bench: Bench,
  what: Omit<Completions, "kind" | "beginOverMs">,
  project?: string,
): Promise<ScenarioResult[]> {
  const rounds = what.concurrent === 1 ? 5 : 3;
  const { subject, against } = await ask(
    bench,
    { kind: "completions", ...what, beginOverMs: what.generationMs },
    { rounds, project },
  );
  const name = `completion${what.generationMs === 0 ? "" : ` of ${what.generationMs} ms`}, ${what.concurrent} at once${project === undefined ? "" : ", recorded"}`;
  return [
    added(0.3, `${name}, p50`, { subject, against, percent: 50 }),
    added(undefined, `${name}, p99`, { subject, against, percent: 99 }),
  ];
}

const PER_SECOND = 700;
const RECORDED_MS = 1.4;

/** Processor time of the service for each completion at a constant rate, passed on and recorded, until all are stored. */
async function processorTime({ gateway, service }: Bench): Promise<ScenarioResult[]> {
  const load = { concurrent: 20, requests: 2000, generationMs: 0, beginOverMs: (20 * 1000) / PER_SECOND };
  const sides = { passed: headers, recorded: { ...headers, "openai-project": "acme/bench" } };
  const used = { passed: [] as Ticks[], recorded: [] as Ticks[] };
  for (let round = 0; round < 4; round++) {
    for (const side of ["passed", "recorded"] as const) {
      const before = processorTimeOf(service.child.pid!);
      const task = { kind: "completions", ...load, rounds: 1, uncounted: 0, sides: [gateway] } as const;
      await inChild<Samples>("gateway-client.ts", { ...task, headers: sides[side] } satisfies GatewayTask);
      while ((await metric(service, "sumtree_gateway_completions_pending")) > 0) await delay(50);
      const after = processorTimeOf(service.child.pid!);
      if (round > 0) used[side].push({ all: after.all - before.all, main: after.main - before.main });
    }
  }
  const each = (side: keyof typeof used, part: keyof Ticks): Spread =>
    spreadOf(used[side].map((ticks) => ticks[part] / load.requests));
  const recorded = each("recorded", "all");
  const result = (what: string, part: keyof Ticks): ScenarioResult => ({
    what: `processor time of a recorded completion${what}, ${PER_SECOND} a second`,
    subject: each("recorded", part),
    against: { what: "passed on", spread: each("passed", part) },
    unit: "ms",
    target: part === "all" ? { text: `≤ ${RECORDED_MS} ms`, used: recorded.median / RECORDED_MS } : undefined,
  });
  return [result("", "all"), result(", main thread", "main")];
}

type Ticks = ReturnType<typeof processorTimeOf>;

/** Streamed completions: when the first event is there, and how far apart the events are. */
async function streams(bench: Bench, what: Omit<Streams, "kind" | "beginOverMs">): Promise<ScenarioResult[]> {
  const beginOverMs = what.tokens * what.tokenMs;
  const { subject, against } = await ask(bench, { kind: "streams", ...what, beginOverMs });
  const gaps = { subject: gapsOf(subject), against: gapsOf(against) };
  const name = `stream, ${what.concurrent} at once`;
  return [
    added(1, `${name}, first event p50`, { subject, against, percent: 50 }),
    added(undefined, `${name}, first event p99`, { subject, against, percent: 99 }),
    added(0.3, `${name}, gap p50`, { ...gaps, percent: 50 }),
    added(undefined, `${name}, gap p99`, { ...gaps, percent: 99 }),
  ];
}

function gapsOf(rounds: Run["subject"]): Run["subject"] {
  return rounds.map((round) => round.flatMap(({ gapsMs }) => gapsMs.map((ms) => ({ ms, gapsMs: [] }))));
}

const OPEN_STREAMS = 2000;
const STREAMS_MIB = 256;

async function manyOpenStreams({ gateway, service }: Bench): Promise<ScenarioResult[]> {
  const before = await metric(service, "process_resident_memory_bytes");
  let open = 0;
  let memory = before;
  const watch = repeat(500, async () => {
    open = Math.max(open, await metric(service, "sumtree_gateway_open_requests"));
    memory = Math.max(memory, await metric(service, "process_resident_memory_bytes"));
  });
  const task: GatewayTask = {
    kind: "streams",
    concurrent: OPEN_STREAMS,
    requests: OPEN_STREAMS,
    tokens: 10,
    tokenMs: 1000,
    beginOverMs: 0,
    rounds: 1,
    uncounted: 0,
    sides: [gateway],
    headers,
  };
  const [rounds] = await inChild<Samples>("gateway-client.ts", task);
  const finished = rounds![0]!.length;
  await watch.stop();
  const aboveMiB = (memory - before) / 2 ** 20;
  return [
    figure(`${OPEN_STREAMS} streams: finished in good order`, spreadOf([finished]), {
      unit: "streams",
      target: { text: `≥ ${OPEN_STREAMS}`, used: OPEN_STREAMS / finished },
    }),
    figure(`${OPEN_STREAMS} streams: open at the same time`, spreadOf([open]), {
      unit: "streams",
      target: { text: `≥ ${OPEN_STREAMS}`, used: OPEN_STREAMS / open },
    }),
    figure(`${OPEN_STREAMS} streams: memory above idle`, spreadOf([aboveMiB]), {
      unit: "MB",
      target: { text: `≤ ${STREAMS_MIB} MB`, used: aboveMiB / STREAMS_MIB },
    }),
  ];
}

const UPLOAD_MEGABYTES = 100;
const UPLOAD_MIB = 64;
const UPLOAD_ROUNDS = 3;

async function upload(bench: Bench): Promise<ScenarioResult[]> {
  const { service } = bench;
  const what: Uploads = { kind: "uploads", megabytes: UPLOAD_MEGABYTES };
  await ask(bench, what, { rounds: 0 });
  const before = await metric(service, "process_resident_memory_bytes");
  const curve: number[] = [];
  const watch = repeat(50, async () => {
    curve.push((await metric(service, "process_resident_memory_bytes")) / 2 ** 20);
  });
  const { subject, against } = await ask(bench, what, { rounds: UPLOAD_ROUNDS });
  await watch.stop();
  const growth = Math.max(...curve) - before / 2 ** 20;
  console.error(
    `memory during ${UPLOAD_ROUNDS + 1} uploads, MB: ${curve.map((at) => at.toFixed(0)).join(" ")}`,
  );
  return [
    {
      what: `upload of ${UPLOAD_MEGABYTES} MB`,
      subject: percentile(subject, 50),
      against: { what: "directly", spread: percentile(against, 50) },
      unit: "ms",
      target: undefined,
    },
    figure(`upload of ${UPLOAD_MEGABYTES} MB: memory above that before`, spreadOf([growth]), {
      unit: "MB",
      target: { text: `≤ ${UPLOAD_MIB} MB`, used: growth / UPLOAD_MIB },
    }),
  ];
}

/** Does the work again and again. `stop` waits for what is under way: the service may end after it. */
function repeat(everyMs: number, work: () => Promise<void>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await work();
      await delay(everyMs);
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      return loop;
    },
  };
}

/** A percentile of each round, as a spread over the rounds. */
function percentile(rounds: Run["subject"], percent: number): Spread {
  return spreadOf(
    rounds.map((samples) => {
      const sorted = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!;
    }),
  );
}

function added(
  limitMs: number | undefined,
  what: string,
  { percent, ...run }: Run & { percent: number },
): ScenarioResult {
  const [subject, direct] = [percentile(run.subject, percent), percentile(run.against, percent)];
  const addedMs = subject.median - direct.median;
  return {
    what,
    subject,
    against: { what: "directly", spread: direct },
    unit: "ms",
    target:
      limitMs === undefined
        ? undefined
        : { text: `≤ ${limitMs} ms more (${addedMs.toFixed(2)})`, used: addedMs / limitMs },
  };
}
