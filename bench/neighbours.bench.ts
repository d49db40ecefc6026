import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT_KEY } from "../test/helpers/start-app.ts";
import { Client, createKey } from "../test/helpers/attacks.ts";
import { startProcess } from "../test/helpers/service-process.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { fillCalls, fillChain } from "./sample-calls.ts";
import { attacks } from "./load/attacks.ts";
import type { AttackTask } from "./load/attack.ts";
import { ratioAtMost, spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";

const QUIET_MS = 1500;
const ATTACKED_MS = 5000;
const MOST = 10;

/** Latency of a call and of a usage query of one project, during attacks by another one. */
export const scenario: Scenario = {
  name: "neighbours",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    const engine = await openEmbedded(dir);
    await migrate(engine, { cluster: undefined });
    await fillChain(engine, { project: "evil/chain", calls: 3000 });
    await fillCalls(engine, { project: "evil/calls", calls: 30_000, callsPerTrace: 100 });
    await engine.close();
    // `MAIN`: that of another version
    const service = await startProcess({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY }, process.env["MAIN"]);
    const victim = new Client(service.url, await createKey(service.url, "good/one"));
    const key = await createKey(service.url, "evil/*", ["read", "ingest", "admin"]);
    try {
      await turns(victim, QUIET_MS);
      const results: ScenarioResult[] = [];
      for (const { name } of attacks) {
        const quiet = await turns(victim, QUIET_MS);
        const attacker = fork(join(import.meta.dirname, "load", "attack.ts"));
        attacker.send({ url: service.url, key, name } satisfies AttackTask);
        await delay(500);
        const attacked = await turns(victim, ATTACKED_MS);
        attacker.kill();
        await delay(1000);
        results.push(
          ratioAtMost(MOST, {
            what: `a call and its usage, while another project or nobody asks for ${name}`,
            subject: spreadOf(attacked),
            against: { what: "the same when it is quiet", spread: spreadOf(quiet) },
          }),
        );
      }
      return results;
    } finally {
      victim.close();
      await service.end("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

let made = 0;

/** Milliseconds of each call and its question. */
async function turns(victim: Client, forMs: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (const end = performance.now() + forMs; performance.now() < end;) {
    const id = `c${made++}`;
    const at = "2026-01-01T00:00:00Z";
    const usage = { "gpt-4o": { requests: 1, prompt_tokens: 10, completion_tokens: 5 } };
    const call = { id, trace_id: id, op_name: "op", started_at: at, ended_at: at, summary: { usage } };
    const began = performance.now();
    const responses = [
      await victim.ask("/v2/good/one/calls/complete", { batch: [call] }),
      await victim.ask("/trace/usage", { project_id: "good/one", filter: { trace_ids: [id] } }),
    ];
    times.push(performance.now() - began);
    for (const { status } of responses) if (status !== 200) throw new Error(`the victim got ${status}`);
  }
  return times;
}
