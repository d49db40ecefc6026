import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startReferenceUpstream } from "../../test/helpers/reference-upstream/server.ts";
import type { SeededRandom } from "../../test/helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../../test/helpers/service-process.ts";
import { ROOT_KEY } from "../../test/helpers/start-app.ts";
import { until } from "../../test/helpers/until.ts";
import { createClient, type SoakClient } from "./client.ts";
import { inspectable, openCollector } from "./collector.ts";
import type { Mix } from "./hour.ts";
import { Expected } from "./expected.ts";
import { operations, type OperationName } from "./operations.ts";
import type { Soak } from "./soak.ts";
import { readMetrics, takeSample, type Sample } from "./sample.ts";
import { verify, type Verdict } from "./verify.ts";

const SAMPLES = 60;
const AT_ONCE = 24;
const MAX_WRONG = 20;

export interface SoakReport extends Verdict {
  readonly seed: number;
  readonly operations: number;
  readonly elapsedMs: number;
  readonly samples: readonly Sample[];
  readonly outcomes: SoakClient["outcomes"];
  /** Answers that were wrong while the load ran. */
  readonly wrongAnswers: readonly string[];
  readonly droppedCompletions: number;
  /** The exit code of the process when asked to stop. */
  readonly exitCode: number | null;
}

/** Runs a mix of operations against the service in a process of its own, in a seeded order, as fast as it answers. */
export async function runSoak(
  mix: Mix,
  random: SeededRandom,
  onSample: (sample: Sample, number: number) => void = () => undefined,
): Promise<SoakReport> {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-soak-"));
  const upstream = await startReferenceUpstream({ keepBytes: 65_536 });
  const service = await startProcess({
    DATA_DIR: dataDir,
    ROOT_API_KEY: ROOT_KEY,
    TRAINING_UPSTREAM_URL: upstream.url,
    ...inspectable,
  });
  const collector = await openCollector(service);
  const client = createClient(service.url, ROOT_KEY);
  const soak: Soak = { client, expected: new Expected(), random };
  try {
    const samples: Sample[] = [];
    const wrongAnswers: string[] = [];
    const queue = shuffled(mix, random);
    const began = performance.now();
    for (let minute = 0; minute < SAMPLES; minute++) {
      const from = Math.floor((minute * queue.length) / SAMPLES);
      const to = Math.floor(((minute + 1) * queue.length) / SAMPLES);
      await perform(soak, queue.slice(from, to), wrongAnswers);
      upstream.forget();
      await collector.collect();
      samples.push(await takeSample(service, dataDir));
      onSample(samples.at(-1)!, minute + 1);
      if (wrongAnswers.length >= MAX_WRONG) break;
    }
    const elapsedMs = performance.now() - began;
    collector.close(); // a process does not end before its debugger is gone
    const droppedCompletions = await untilRecorded(service);
    const verdict = await verify(client, soak.expected);
    const exitCode = await service.end("SIGTERM");
    return {
      ...verdict,
      seed: random.seed,
      operations: queue.length,
      elapsedMs,
      samples,
      outcomes: client.outcomes,
      wrongAnswers,
      droppedCompletions,
      exitCode,
    };
  } finally {
    collector.close();
    await client.close();
    await service.end("SIGKILL");
    await upstream.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Turn {
  readonly name: OperationName;
  readonly n: number;
}

function shuffled(mix: Mix, random: SeededRandom): Turn[] {
  const turns = [...mix].flatMap(([name, count]) => Array.from({ length: count }, (_, n) => ({ name, n })));
  for (let at = turns.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [turns[at], turns[other]] = [turns[other]!, turns[at]!];
  }
  return turns;
}

async function perform(soak: Soak, turns: readonly Turn[], wrongAnswers: string[]): Promise<void> {
  const rest = turns.values();
  const work = async (): Promise<void> => {
    for (const { name, n } of rest) {
      try {
        await operations[name](soak, n);
      } catch (error) {
        wrongAnswers.push(`${name} ${n}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Waits for completions that are not recorded yet. Returns how many were dropped. */
async function untilRecorded(service: ServiceProcess): Promise<number> {
  let metrics = await readMetrics(service);
  const pending = async (): Promise<number> => {
    metrics = await readMetrics(service);
    return metrics("sumtree_gateway_completions_pending") + metrics("sumtree_gateway_open_requests");
  };
  await until(async () => (await pending()) === 0, 30_000);
  return metrics("sumtree_gateway_completions_dropped_total");
}
