import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillCalls } from "../../bench/sample-calls.ts";
import { openEmbedded } from "../../src/store/connect.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import {
  attack,
  ATTACKS,
  callsOfMonths,
  Client,
  createKey,
  startEndlessUpstream,
} from "../helpers/attacks.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const greedy = "acme/greedy";
const modest = "other/modest";
const SECONDS = 5;

const dir = mkdtempSync(join(tmpdir(), "sumtree-shares-"));
let upstream: { url: string; server: Server };
let service: ServiceProcess;
let victim: Client;
const attackers: Client[] = [];

beforeAll(async () => {
  const engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  await fillCalls(engine, { project: greedy, calls: 120_000, callsPerTrace: 1000 });
  await engine.close();
  upstream = await startEndlessUpstream();
  service = await startProcess(
    {
      DATA_DIR: dir,
      ROOT_API_KEY: ROOT_KEY,
      CHAT_UPSTREAM_URL: upstream.url,
      UPSTREAM_MAX_CONCURRENT: "40",
    },
    process.env["MAIN"],
  );
  victim = new Client(service.url, await createKey(service.url, modest));
  for (let n = 0; n < 20; n++) attackers.push(new Client(service.url, await createKey(service.url, greedy)));
});
afterAll(async () => {
  for (const client of [victim, ...attackers]) client.close();
  await service.end("SIGTERM");
  upstream.server.closeAllConnections();
  upstream.server.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a client of another entity: a small write, a query, a stream, repeatedly. Returns the statuses. */
async function turns(seconds: number): Promise<readonly number[]> {
  const done: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const batch = callsOfMonths(1, 3);
    const { trace_id } = batch[0] as { trace_id: string };
    const asked = [
      [`/v2/${modest}/calls/complete`, { batch }],
      ["/trace/usage", { project_id: modest, filter: { trace_ids: [trace_id] } }],
      ["/v1/chat/completions", { model: "short", messages: [], stream: true }],
    ] as const;
    for (const [path, body] of asked) done.push((await victim.ask(path, body)).status);
  }
  return done;
}

describe("an entity that uses all it can get, by many keys", () => {
  it("leaves enough capacity to another entity", async () => {
    const over = new AbortController();
    const running = ATTACKS.map((does) =>
      attack(attackers, greedy, { does, times: does === "months" ? 8 : 40, signal: over.signal }),
    );
    try {
      await delay(1000);
      // each is served: one that waited for a place behind the attackers would be refused, or never answered
      expect(new Set(await turns(SECONDS))).toEqual(new Set([200]));
    } finally {
      over.abort();
      await Promise.all(running);
    }
  });
});
