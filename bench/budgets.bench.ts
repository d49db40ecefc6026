import { setTimeout as delay } from "node:timers/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trusted } from "../src/query/sql.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { rebuildRollup } from "../src/usage-rollup/verify-rollup.ts";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { BENCH_KEY, startUpstream } from "./gateway-service.ts";
import type { GatewayTask, Samples } from "./load/gateway-client.ts";
import { inChild } from "./load/in-child.ts";
import { noteFilled } from "./note-filled.ts";
import { processorTimeOf } from "./processor-time.ts";
import { spreadOf, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";

const [PLAIN, SMALL, LARGE] = ["bench/plain", "bench/small", "bench/large"] as const;
const SIDES = { [PLAIN]: "none", [SMALL]: "ten", [LARGE]: "ten, 300,000 calls" } as const;
type Side = keyof typeof SIDES;
/** Calls of the past that the usage rollup covers, and of the current hour. */
const CALLS = { past: 250_000, current: 50_000 };
const CALLS_PER_HOUR = 10_000;
const REQUESTS = 1000;
const PER_SECOND = 200;
const ROUNDS = 5;
const MORE_MS = 0.2;
/** The recorder has stored everything. */
const STORED_MS = 1500;

const MUCH = { usd: 1e6, tokens: 1e12, requests: 1e9 };
/** Ten budgets, under all of which every request comes; none of them refuses. */
const BUDGETS = [
  { limit: { usd: MUCH.usd }, window: "hour" },
  { limit: { usd: MUCH.usd }, window: "day", timezone: "Europe/Berlin" },
  { limit: { usd: MUCH.usd }, window: "month", timezone: "America/New_York" },
  { limit: { usd: MUCH.usd } },
  { scope: "api_key", limit: { usd: MUCH.usd }, window: "week" },
  { scope: "svc_user_id", limit: { usd: MUCH.usd }, window: "day" },
  { scope: "llm", match: "m", limit: { usd: MUCH.usd }, window: "day" },
  { scope: "thread_id", limit: { usd: MUCH.usd } },
  { limit: { tokens: MUCH.tokens }, window: "day" },
  { limit: { requests: MUCH.requests }, window: "month" },
];

/** The same completions without budgets, under ten, and under ten of a large project, which are as dear. */
export const scenario: Scenario = {
  name: "budgets",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    await fillStore(dir);
    const { child, url } = await startUpstream();
    const service = await startProcess({
      DATA_DIR: dir,
      ROOT_API_KEY: BENCH_KEY,
      TRAINING_UPSTREAM_URL: url,
    });
    try {
      for (const project of Object.keys(SIDES)) await prepare(service, project);
      return await compare(service);
    } finally {
      await service.end("SIGTERM");
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function fillStore(dir: string): Promise<void> {
  const engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  const hourMs = 3_600_000;
  const thisHourMs = Math.floor(Date.now() / hourMs) * hourMs;
  const fill = (from: number, count: number, beginMs: number, perHour: number): Promise<void> =>
    engine.command(trusted(fillStatement(from, count, `${beginMs} + number * ${hourMs / perHour}`)), {
      name: "bench_fill",
      limits: "maintenance",
    });
  await fill(0, CALLS.past, thisHourMs - (CALLS.past / CALLS_PER_HOUR) * hourMs, CALLS_PER_HOUR);
  await noteFilled(engine, LARGE);
  await rebuildRollup({ engine, runExclusive: (work) => work(), signal: new AbortController().signal });
  await fill(CALLS.past, CALLS.current, thisHourMs - CALLS.past * 1e-3, 1e6);
  await noteFilled(engine, LARGE);
  await engine.close();
}

/** Traces of two calls, with payloads of some bytes. */
function fillStatement(from: number, count: number, startedMs: string): string {
  return `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, thread_id, svc_user_id,
                       inputs, attributes, inclusive, ended_at, output, summary, exception, usage)
    WITH intDiv(number, 2) AS trace, fromUnixTimestamp64Milli(toInt64(${startedMs}), 'UTC') AS began
    SELECT '${LARGE}', intDiv(toUnixTimestamp64Milli(began), 3600000), concat('trace-', toString(trace)),
      concat('call-', toString(number)), if(number % 2 = 0, '', concat('call-', toString(number - 1))), 'op', began,
      concat('thread-', toString(trace % 5000)), concat('user-', toString(trace % 500)), '{}', '{}', 0, began + 1,
      '{"answer":"yes"}', '{}', '', concat('[["gpt-4o-mini",1,', toString(1000 + number % 500), ',80,', toString(1080 + number % 500), ',200,0,0]]')
    FROM numbers(${from}, ${count}) SETTINGS max_insert_threads = 1`;
}

/** Sets the price of the upstream's model, and the budgets. */
async function prepare(service: ServiceProcess, project_id: string): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const response = await service.post(path, body);
    if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`);
  };
  const m = { prompt_token_cost: 1e-6, completion_token_cost: 2e-6 };
  await post("/cost/create", { project_id, costs: { m } });
  if (project_id === PLAIN) return;
  for (const budget of BUDGETS) await post("/budget/create", { project_id, scope: "project", ...budget });
}

interface Measured {
  /** Processor time of a completion until it is stored, with all that runs meanwhile. */
  readonly processorMs: number;
  /** Median of the whole request, less what the upstream says it took. */
  readonly ms: number;
}

async function compare(service: ServiceProcess): Promise<ScenarioResult[]> {
  const sides = Object.keys(SIDES) as Side[];
  const measured = new Map(sides.map((side) => [side, [] as Measured[]]));
  for (let round = -1; round < ROUNDS; round++)
    for (const side of sides) {
      const one = await measure(service, side);
      if (round >= 0) measured.get(side)!.push(one);
    }
  const spread = (side: Side, part: keyof Measured): Spread =>
    spreadOf(measured.get(side)!.map((one) => one[part]));
  return ([SMALL, LARGE] as const).flatMap((side) =>
    (["processorMs", "ms"] as const).map((part): ScenarioResult => {
      const more = measured.get(side)!.map((one, round) => one[part] - measured.get(PLAIN)![round]![part]);
      const { median } = spreadOf(more);
      const what = part === "ms" ? "completion, p50" : "processor time of a completion";
      return {
        what: `${what}, ${PER_SECOND} a second, budgets: ${SIDES[side]}`,
        subject: spread(side, part),
        against: { what: SIDES[PLAIN], spread: spread(PLAIN, part) },
        unit: "ms",
        target: { text: `≤ ${MORE_MS} ms more (${median.toFixed(2)})`, used: median / MORE_MS },
      };
    }),
  );
}

async function measure(service: ServiceProcess, project: Side): Promise<Measured> {
  const before = processorTimeOf(service.child.pid!).all;
  const concurrent = 20;
  const samples = await inChild<Samples>("gateway-client.ts", {
    kind: "completions",
    concurrent,
    requests: REQUESTS,
    generationMs: 0,
    beginOverMs: (concurrent * 1000) / PER_SECOND,
    rounds: 1,
    uncounted: 0,
    sides: [`${service.url}/v1`],
    headers: {
      authorization: `Bearer ${BENCH_KEY}`,
      "content-type": "application/json",
      "x-sumtree-project": project,
      "x-session-id": "bench",
    },
  } satisfies GatewayTask);
  // reading the metrics would read what is spent
  await delay(STORED_MS);
  const processorMs = (processorTimeOf(service.child.pid!).all - before) / REQUESTS;
  return { processorMs, ms: spreadOf(samples[0]![0]!.map(({ ms }) => ms)).median };
}
