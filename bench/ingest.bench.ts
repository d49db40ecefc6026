import { fromComplete } from "../src/ingest/normalize.ts";
import { completeSchema } from "../src/ingest/schema.ts";
import { sql } from "../src/query/sql.ts";
import { inChild } from "./load/in-child.ts";
import type { IngestResult, IngestTask } from "./load/ingest.ts";
import { sampleCalls } from "./load/sample-messages.ts";
import { figure, spreadOf, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const ROUNDS = 5;
const TARGET = 10_000;
const CALLS_PER_INSERT = 2000;

type Load = Omit<IngestTask, "url" | "key">;

const pairs: Load = { shape: "pairs", senders: 4, callsPerBatch: 500, batches: 40 };
const whole: Load = { shape: "whole", senders: 4, callsPerBatch: 500, batches: 40 };
const singles: Load = { shape: "singles", senders: 100, callsPerBatch: 1, batches: 2000 };

function send({ url, key }: BenchService, load: Load): Promise<IngestResult> {
  return inChild<IngestResult>("ingest.ts", { url, key, ...load } satisfies IngestTask);
}

/** The floor: the engine storing the same rows as durably. Calls per second. */
async function insertRows({ engine }: BenchService): Promise<number> {
  const calls = sampleCalls();
  const batches = Array.from({ length: 10 }, () =>
    Array.from({ length: CALLS_PER_INSERT }, () => {
      const { start, end } = calls.next().value;
      const part = fromComplete(completeSchema.parse({ ...start, ...end }), "bench");
      const key = { project_id: "bench/floor", hour: part.hour, trace_id: part.traceId, id: part.id };
      return { ...key, ...part.columns };
    }),
  );
  const began = performance.now();
  for (const rows of batches) await engine.insert("calls", rows, { name: "bench_floor" });
  return perSecond(batches.length * CALLS_PER_INSERT, performance.now() - began);
}

async function throughput(service: BenchService): Promise<ScenarioResult[]> {
  const rates = { pairs: [] as number[], whole: [] as number[], floor: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    const measured = {
      pairs: perSecond(20_000, (await send(service, pairs)).elapsedMs),
      whole: perSecond(20_000, (await send(service, whole)).elapsedMs),
      floor: await insertRows(service),
    };
    if (round < 0) continue;
    for (const [name, rate] of Object.entries(measured)) rates[name as keyof typeof rates].push(rate);
  }
  const floor = { what: "the engine's own inserts", spread: spreadOf(rates.floor) };
  const atLeast = (what: string, subject: Spread): ScenarioResult => ({
    what,
    subject,
    against: floor,
    unit: "calls/s",
    target: { text: `≥ ${TARGET} calls/s`, used: TARGET / subject.median },
  });
  return [
    atLeast("calls of 1 KB, start and end in /call/upsert_batch", spreadOf(rates.pairs)),
    atLeast("calls of 1 KB in /calls/complete", spreadOf(rates.whole)),
  ];
}

/** A hundred clients that send one message per request: the case for group commit. */
async function smallWriters(service: BenchService): Promise<ScenarioResult[]> {
  const inserts = async (): Promise<number> => {
    const rows = await service.engine.rows<{ value: number }>(
      sql`SELECT value FROM system.events WHERE event = 'InsertQuery'`,
      { name: "bench_inserts" },
    );
    return rows[0]?.value ?? 0;
  };
  const before = await inserts();
  const { latenciesMs } = await send(service, singles);
  const perThousand = ((await inserts()) - before) / (latenciesMs.length / 1000);
  const at = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)]!;
  const percentiles = { median: at(0.5), min: at(0.01), max: at(0.99) };
  return [
    figure("one message by itself, 100 senders (median, and 1 % to 99 %)", percentiles, { unit: "ms" }),
    figure("inserts for 1,000 calls", spreadOf([perThousand]), {
      unit: "inserts",
      target: { text: "≤ 100", used: perThousand / 100 },
    }),
  ];
}

function perSecond(calls: number, elapsedMs: number): number {
  return (calls / elapsedMs) * 1000;
}

export const scenario: Scenario = {
  name: "ingest",
  async run() {
    const service = await startService();
    try {
      return [...(await throughput(service)), ...(await smallWriters(service))];
    } finally {
      await service.close();
    }
  },
};
