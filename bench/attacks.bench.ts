import fc from "fast-check";
import { startAttacked, type AttackedService } from "../test/helpers/attacked-service.ts";
import { chosenSeed } from "../test/helpers/seeded-random.ts";
import { hostileBodies, type HostileBody } from "../test/models/hostile-bodies.ts";
import { spreadOf, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";

const BODIES = 60;
const MAX_BODY_BYTES = 4 * 2 ** 20;
const STALL_TIMES = 25;
const WORK_TIMES = 60;
const HEAP_TIMES = 4;

/** Cost of one body while another project is served. */
interface Cost {
  /** The longest that the event loop stood, in ms. */
  readonly stallMs: number;
  /** All threads, in ms. */
  readonly workMs: number;
  readonly heapMB: number;
}

/** The dearest of many hostile bodies beside a batch of ordinary calls as long as the longest of them. */
export const scenario: Scenario = {
  name: "attacks",
  async run() {
    const service = await startAttacked();
    try {
      const longest = ordinary(MAX_BODY_BYTES);
      await costOf(service, longest);
      const hostile: Cost[] = [];
      const plain: Cost[] = [];
      for (const body of fc.sample(hostileBodies(MAX_BODY_BYTES), { numRuns: BODIES, seed: chosenSeed() })) {
        hostile.push(await leastOfTwo(service, body));
        if (hostile.length % 10 === 0) plain.push(await leastOfTwo(service, longest));
      }
      return [
        dearest(STALL_TIMES, {
          what: "event loop delay",
          member: "stallMs",
          unit: "ms",
          hostile,
          plain,
        }),
        dearest(WORK_TIMES, { what: "processor time", member: "workMs", unit: "ms", hostile, plain }),
        dearest(HEAP_TIMES, { what: "heap", member: "heapMB", unit: "MB", hostile, plain }),
      ];
    } finally {
      await service.close();
    }
  },
};

/** Calls of one kilobyte. */
function ordinary(length: number): HostileBody {
  const text = "What every call of a trace really used. ".repeat(20);
  const call = (n: number) => ({
    mode: "complete",
    req: {
      project_id: "acme/attacker",
      id: `plain-${n}`,
      trace_id: "plain",
      op_name: "chat",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      inputs: { text },
      attributes: {},
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: n, completion_tokens: 1 } } },
    },
  });
  const batch = Array.from({ length: Math.ceil(length / 1100) }, (_, n) => call(n));
  return {
    name: "ordinary calls",
    path: "/call/upsert_batch",
    headers: { "content-type": "application/json" },
    bytes: Buffer.from(JSON.stringify({ batch })),
    chunkBytes: 65_536,
  };
}

async function costOf(service: AttackedService, body: HostileBody): Promise<Cost> {
  const before = await service.meter();
  await service.attack(body);
  const { processMs, longestMs, heapBytes } = await service.meter();
  return { stallMs: longestMs, workMs: processMs - before.processMs, heapMB: heapBytes / 2 ** 20 };
}

/** Measures a cost twice and returns the smaller one: other load on the machine only adds to it. */
async function leastOfTwo(service: AttackedService, body: HostileBody): Promise<Cost> {
  const [a, b] = [await costOf(service, body), await costOf(service, body)];
  return {
    stallMs: Math.min(a.stallMs, b.stallMs),
    workMs: Math.min(a.workMs, b.workMs),
    heapMB: Math.min(a.heapMB, b.heapMB),
  };
}

interface Compared {
  readonly what: string;
  readonly member: keyof Cost;
  readonly unit: ScenarioResult["unit"];
  readonly hostile: readonly Cost[];
  readonly plain: readonly Cost[];
}

/** The largest figure of the hostile bodies beside the median of the ordinary batch. */
function dearest(limit: number, { what, member, unit, hostile, plain }: Compared): ScenarioResult {
  const spread = spreadOf(plain.map((cost) => cost[member]));
  const all = spreadOf(hostile.map((cost) => cost[member]));
  const subject: Spread = { ...all, median: all.max };
  return {
    what: `${what}, dearest of ${BODIES} hostile bodies`,
    subject,
    against: { what: "ordinary calls", spread },
    unit,
    target: { text: `≤ ${limit} ×`, used: subject.median / (limit * spread.median) },
  };
}
