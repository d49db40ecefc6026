import { setTimeout as delay } from "node:timers/promises";
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
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

/** How long replicas are killed at random. */
const SECONDS = Number(process.env["KILL_SECONDS"] ?? 40);
const random = seededRandom();
const WRITERS = 4;
const READERS = 4;
const PAUSE_MS = 30;
const CALM_MS = 5000;
const project = "acme/load";
const doomed = "acme/doomed";

let cluster: TestCluster;
let services: ServiceProcess[];

describe.skipIf(!hasFaults || replicaCount < 3)(
  `replicas killed at random for ${SECONDS} s, seed ${random.seed}, on ${clusterName}`,
  () => {
    beforeAll(async () => {
      cluster = await openCluster();
      services = [await cluster.start([1, 2, 3]), await cluster.start([3, 1, 2])];
    });
    afterAll(() => cluster?.close());

    it(
      "reads go on within two seconds, nothing acknowledged is lost, receipts end",
      { timeout: SECONDS * 1000 + RECEIPT_MS },
      async () => {
        const over = new AbortController();
        const acknowledged = new Map<string, string>();
        const receipts: string[] = [];
        const waits = { reads: [0], writes: [0] };
        /** From the first refusal of a read until the answer. */
        const outages = [0];
        let refused = 0;

        /** A client that tries again, at the other service when one refuses. */
        const insist = async (path: string, body: unknown, method = "POST") => {
          let turn = Math.floor(random.next() * 2);
          let refusedMs = 0;
          const done = await untilDone(
            async () => {
              const reply = await send(services[turn++ % 2]!, path, body, { method });
              if (![200, 202].includes(reply.status)) {
                refused++;
                refusedMs ||= performance.now();
              }
              return reply;
            },
            { withinMs: 60_000, status: [200, 202] },
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
            await delay(5000);
          }
        };
        /** The longest wait of a reader while nothing is killed: how busy the machine is. */
        const calm = { reads: 0 };
        const kill = async (): Promise<number> => {
          await delay(CALM_MS);
          calm.reads = Math.max(...waits.reads);
          const until = performance.now() + SECONDS * 1000;
          let kills = 0;
          for (; performance.now() < until; kills++) {
            const replica = 1 + Math.floor(random.next() * 3);
            await cluster.fault(random.next() < 0.7 ? "kill" : "stop", replica);
            await delay(1000 + random.next() * 5000);
            await cluster.fault("start", replica);
            // most have one, and then the next one goes
            await cluster.heal();
            await delay(random.next() * 3000);
          }
          over.abort();
          return kills;
        };
        const load = [
          ...Array.from({ length: WRITERS }, (_, writer) => write(writer)),
          ...Array.from({ length: READERS }, read),
          remove(),
        ];
        const [kills] = await Promise.all([kill(), ...load]);
        await cluster.heal();

        const longest = { reads: Math.max(...waits.reads), writes: Math.max(...waits.writes) };
        // eslint-disable-next-line no-console -- what a long run has seen
        console.log(
          `${kills} kills; ${acknowledged.size} calls, ${waits.reads.length} reads, ${receipts.length} receipts; ` +
            `${refused} refusals, of reads for ${Math.max(...outages).toFixed()} ms at most; longest read ${longest.reads.toFixed()} ms ` +
            `(${calm.reads.toFixed()} ms before the first kill), longest write ${longest.writes.toFixed()} ms`,
        );
        expect(kills).toBeGreaterThan(0);
        for (const service of services) {
          const stored = await tokensOf(service, project);
          expect([...acknowledged.keys()].filter((id) => stored.get(id) !== TOKENS_PER_CALL)).toEqual([]);
        }
        for (const receipt of receipts) {
          await untilErased(services[0]!, receipt);
        }
        expect((await tokensOf(services[1]!, doomed)).size).toBe(0);
        expect(Math.max(...outages)).toBeLessThan(2000);
        expect(longest.reads).toBeLessThan(2000 + 3 * calm.reads);
      },
    );
  },
);
