import { inChild } from "./load/in-child.ts";
import type { IngestResult, IngestTask } from "./load/ingest.ts";
import { fillCalls } from "./sample-calls.ts";
import { fillFeedback } from "./sample-feedback.ts";
import { figure, timeInTurn, type Scenario, type ScenarioResult } from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const ROUNDS = 5;
const MAX_EXPONENT = 1.1;
const TIMES = [1, 10, 100] as const;
const START_MS = Date.UTC(2026, 0, 1);
const DAYS = 30;

/** Work that depends on a size: prepared for a size, then measured. */
interface Cost {
  readonly what: string;
  /** The first size; the others are ten and a hundred times as large. */
  readonly size: number;
  prepare(service: BenchService, size: number): Promise<void>;
  pay(service: BenchService, size: number): Promise<unknown>;
}

const usageOf = (service: BenchService, project_id: string, more: object): Promise<void> =>
  service.ask("/trace/usage", { project_id, limit: 1_000_000, ...more });

const costs: readonly Cost[] = [
  {
    what: "usage of one trace, by its calls",
    size: 1000,
    prepare: ({ engine }, calls) =>
      fillCalls(engine, { project: `tree/${calls}`, calls, callsPerTrace: calls }),
    pay: (service, calls) => usageOf(service, `tree/${calls}`, { filter: { trace_ids: ["trace-00000000"] } }),
  },
  {
    what: "usage of a chain of calls, by its depth",
    size: 1000,
    prepare: ({ engine }, calls) =>
      fillCalls(engine, { project: `chain/${calls}`, calls, callsPerTrace: calls, fanOut: 1 }),
    pay: (service, calls) =>
      usageOf(service, `chain/${calls}`, { filter: { trace_ids: ["trace-00000000"] } }),
  },
  {
    what: "roots of traces of 1,000 calls, by their calls",
    size: 10_000,
    prepare: ({ engine }, calls) =>
      fillCalls(engine, { project: `roots/${calls}`, calls, callsPerTrace: 1000 }),
    pay: (service, calls) => usageOf(service, `roots/${calls}`, { filter: { trace_roots_only: true } }),
  },
  {
    what: "a condition on a nested field, by the calls of the project",
    size: 10_000,
    prepare: () => Promise.resolve(), // those of the roots
    pay: (service, calls) =>
      usageOf(service, `roots/${calls}`, {
        limit: 100,
        query: { $expr: { $eq: [{ $getField: "inputs.n" }, { $literal: 7 }] } },
      }),
  },
  {
    what: "feedback statistics, by the rows of the window",
    size: 10_000,
    prepare: ({ engine }, rows) =>
      fillFeedback(engine, { project: `feedback/${rows}`, rows, startMs: START_MS, days: DAYS }),
    pay: (service, rows) =>
      service.ask("/feedback/stats", {
        project_id: `feedback/${rows}`,
        start: new Date(START_MS).toISOString(),
        end: new Date(START_MS + DAYS * 86_400_000).toISOString(),
        granularity: 86_400,
        metrics: [{ json_path: "output.score", aggregations: ["avg"], percentiles: [50, 95] }],
      }),
  },
];

async function growthOf(cost: Cost, service: BenchService): Promise<ScenarioResult> {
  const sizes = TIMES.map((times) => cost.size * times);
  for (const size of sizes) await cost.prepare(service, size);
  const alternatives = sizes.map((size) => [String(size), () => cost.pay(service, size)] as const);
  const times = await timeInTurn(ROUNDS, Object.fromEntries(alternatives));
  return exponentOf(
    cost.what,
    sizes,
    sizes.map((size) => times[size]!.median),
  );
}

/** One request after another, so that the batch is measured. */
async function growthOfIngest({ url, key }: BenchService): Promise<ScenarioResult> {
  const sizes = TIMES.map((times) => 100 * times);
  const times: number[] = [];
  for (const callsPerBatch of sizes) {
    const load = { shape: "pairs", senders: 1, callsPerBatch, batches: 7 } as const;
    const { latenciesMs } = await inChild<IngestResult>("ingest.ts", {
      url,
      key,
      ...load,
    } satisfies IngestTask);
    times.push(latenciesMs[Math.floor(latenciesMs.length / 2)]!);
  }
  return exponentOf("one batch to /call/upsert_batch, by its calls", sizes, times);
}

/** k in time = c × size^k: over both decades, and over each of them. */
function exponentOf(what: string, sizes: readonly number[], timesMs: readonly number[]): ScenarioResult {
  const [first, second] = [0, 1].map((at) => Math.log10(timesMs[at + 1]! / timesMs[at]!)) as [number, number];
  const worst = Math.max(first, second);
  const steps = sizes.map((size, at) => `${size.toLocaleString("en")}: ${timesMs[at]!.toFixed(1)} ms`);
  const spread = { median: (first + second) / 2, min: Math.min(first, second), max: worst };
  const target = { text: `≤ ${MAX_EXPONENT}`, used: worst / MAX_EXPONENT };
  return figure(`${what} (${steps.join(", ")})`, spread, { unit: "exponent", target });
}

export const scenario: Scenario = {
  name: "growth",
  async run() {
    const service = await startService();
    try {
      const results: ScenarioResult[] = [];
      for (const cost of costs) results.push(await growthOf(cost, service));
      return [...results, await growthOfIngest(service)];
    } finally {
      await service.close();
    }
  },
};
