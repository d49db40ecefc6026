import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  completeCall,
  RECEIPT_MS,
  send,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
  untilErased,
} from "../helpers/cluster-load.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  countShards,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

/** How long replicas are killed, stalled, wiped and filled at random. */
const SECONDS = Number(process.env["KILL_SECONDS"] ?? 40);
const random = seededRandom();
const WRITERS = 4;
const READERS = 4;
const PAUSE_MS = 30;
const CALM_MS = 5000;
/** A shard takes no writes until a wiped replica has everything again. */
const PATIENCE_MS = 240_000;
const FULL = "1000000000000000";
const project = "acme/load";
const doomed = "acme/doomed";

const shards = await countShards();
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);
const scripts = join(import.meta.dirname, "../../scripts");

let cluster: TestCluster;
let services: ServiceProcess[];

/** Runs one of the commands on the store. */
async function run(script: string, ...more: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], ...cluster.settings() };
  const { stdout } = await promisify(execFile)(process.execPath, [join(scripts, `${script}.ts`), ...more], {
    env,
  });
  return stdout;
}

/** As if a replica had less space than that. */
async function leaveFree(replica: number, bytes: string): Promise<void> {
  const tables = await cluster.rows<{ name: string }>(
    replica,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%'",
  );
  for (const { name } of tables)
    await cluster.run(
      replica,
      `ALTER TABLE ${name} MODIFY SETTING min_free_disk_bytes_to_perform_insert = ${bytes}`,
    );
}

/** Faults of a replica for a time; each restores it at the end. */
const faults: Readonly<Record<string, (replica: number, lastsMs: number) => Promise<void>>> = {
  async kill(replica, lastsMs) {
    await cluster.fault("kill", replica);
    await delay(lastsMs);
    await cluster.fault("start", replica);
  },
  async stop(replica, lastsMs) {
    await cluster.fault("stop", replica);
    await delay(lastsMs);
    await cluster.fault("start", replica);
  },
  async fill(replica, lastsMs) {
    await leaveFree(replica, FULL);
    await delay(lastsMs);
    await leaveFree(replica, "0");
  },
  async wipe(replica, lastsMs) {
    await cluster.fault("wipe", replica);
    await delay(lastsMs);
    await cluster.fault("start", replica);
    await cluster.createDatabase();
    await run("migrate");
  },
};
const FAULTS = ["kill", "kill", "kill", "stop", "stop", "fill", "wipe"] as const;

describe.skipIf(!hasFaults || replicaCount < 3 || replicaCount === shards)(
  `replicas that fail at random for ${SECONDS} s, seed ${random.seed}, on ${clusterName}`,
  () => {
    beforeAll(async () => {
      cluster = await openCluster();
      services = [await cluster.start(numbers), await cluster.start(numbers.toReversed())];
    });
    afterAll(() => cluster?.close());

    it(
      "reads continue, nothing acknowledged is lost, nothing deleted is restored, receipts end",
      { timeout: SECONDS * 1000 + RECEIPT_MS + PATIENCE_MS },
      async () => {
        const over = new AbortController();
        const acknowledged = new Map<string, string>();
        const receipts: string[] = [];
        const waits = { reads: [0], writes: [0] };
        /** From the first refusal of a read until the answer. */
        const outages = [0];
        let rejected = 0;

        /** A client that tries again, at the other service when one refuses. */
        const insist = async (path: string, body: unknown, method = "POST") => {
          let turn = Math.floor(random.next() * 2);
          let refusedMs = 0;
          const done = await untilDone(
            async () => {
              const reply = await send(services[turn++ % 2]!, path, body, { method });
              if (![200, 202].includes(reply.status)) {
                rejected++;
                refusedMs ||= performance.now();
              }
              return reply;
            },
            { withinMs: PATIENCE_MS, status: [200, 202] },
          );
          return { ...done, outageMs: refusedMs === 0 ? 0 : performance.now() - refusedMs };
        };
        const write = async (writer: number): Promise<void> => {
          for (let n = 0; !over.signal.aborted; n++) {
            const [id, trace] = [`w${writer}-${n}`, `w${writer}-trace-${n % 50}`];
            const batch = [completeCall(project, id, trace)];
            const { tookMs } = await insist(`/v2/${project}/calls/complete`, { batch });
            waits.writes.push(tookMs);
            acknowledged.set(id, trace);
            await delay(PAUSE_MS);
          }
        };
        const read = async (): Promise<void> => {
          while (!over.signal.aborted) {
            const known = [...acknowledged].slice(-20);
            const [id, trace] = known[Math.floor(random.next() * known.length)] ?? [];
            const filter = id === undefined ? {} : { trace_ids: [trace] };
            const { tookMs, outageMs, reply } = await insist("/trace/usage", { project_id: project, filter });
            waits.reads.push(tookMs);
            outages.push(outageMs);
            if (id !== undefined) expect(reply.json.call_usage[id], id).toMatchObject({ m: { requests: 1 } });
            await delay(PAUSE_MS);
          }
        };
        const remove = async (): Promise<void> => {
          for (let n = 0; !over.signal.aborted; n++) {
            await insist(`/v2/${doomed}/calls/complete`, { batch: [completeCall(doomed, `d${n}`, "d")] });
            const { reply } = await insist(`/projects/${doomed}`, undefined, "DELETE");
            receipts.push(reply.json.id as string);
            const left = await insist("/trace/usage", { project_id: doomed });
            expect(left.reply.json.call_usage).toEqual({});
            await delay(5000);
          }
        };
        /** The longest wait of a reader while nothing is killed: how busy the machine is. */
        const calm = { reads: 0 };
        const fail = async (): Promise<Readonly<Record<string, number>>> => {
          await delay(CALM_MS);
          calm.reads = Math.max(...waits.reads);
          const until = performance.now() + SECONDS * 1000;
          const counts: Record<string, number> = {};
          while (performance.now() < until) {
            const fault = FAULTS[Math.floor(random.next() * FAULTS.length)]!;
            const replica = 1 + Math.floor(random.next() * replicaCount);
            counts[fault] = (counts[fault] ?? 0) + 1;
            await faults[fault]!(replica, 1000 + random.next() * 5000);
            // most have one, and then the next one goes
            await cluster.heal();
            await delay(random.next() * 3000);
          }
          over.abort();
          return counts;
        };
        const load = [
          ...Array.from({ length: WRITERS }, (_, writer) => write(writer)),
          ...Array.from({ length: READERS }, read),
          remove(),
        ];
        const [counts] = await Promise.all([fail(), ...load]);
        await cluster.heal();

        const longest = { reads: Math.max(...waits.reads), writes: Math.max(...waits.writes) };
        // eslint-disable-next-line no-console -- what a long run has seen
        console.log(
          `${JSON.stringify(counts)}; ${acknowledged.size} calls, ${waits.reads.length} reads, ${receipts.length} receipts; ` +
            `${rejected} refusals, of reads for ${Math.max(...outages).toFixed()} ms at most; longest read ${longest.reads.toFixed()} ms ` +
            `(${calm.reads.toFixed()} ms before the first kill), longest write ${longest.writes.toFixed()} ms`,
        );
        for (const service of services) {
          const stored = await tokensOf(service, project);
          expect([...acknowledged.keys()].filter((id) => stored.get(id) !== TOKENS_PER_CALL)).toEqual([]);
        }
        for (const receipt of receipts) {
          await untilErased(services[0]!, receipt);
        }
        for (const service of services) expect((await tokensOf(service, doomed)).size).toBe(0);
        const [first, second] = await Promise.all(services.map((service) => tokensOf(service, project)));
        expect(first).toEqual(second);
        expect(await run("usage-rollup", "check")).toContain(" 0 of them different");
        expect(Math.max(...outages)).toBeLessThan(2000 + 3 * calm.reads);
        expect(longest.reads).toBeLessThan(2000 + 3 * calm.reads);
      },
    );
  },
);
