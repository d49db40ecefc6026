import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hostileBodies, type HostileBody } from "../models/hostile-bodies.ts";
import { pace } from "../helpers/pace.ts";
import { runs } from "../helpers/runs.ts";
import { startMetered, type MeteredProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";

/** In processor time, at the pace of the machine where they were measured. */
const MAX_STALL_MS = 200;
const FREE_MS = 1200;
/** Keys that are written with escapes, all different, cost most: some 0.008. */
const MS_PER_BYTE = 0.02;
const MAX_HEAP_BYTES = 400 * 2 ** 20;
const MAX_BODY_BYTES = Number(process.env["BODY_MIB"] ?? 4) * 2 ** 20;

const dir = mkdtempSync(join(tmpdir(), "sumtree-hostile-"));
let service: MeteredProcess;
const keys: Record<string, string> = {};
beforeAll(async () => {
  service = await startMetered({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY }, process.env["MAIN"]);
  for (const name of ["attacker", "other"]) {
    const scopes = ["ingest", "read", "prices"];
    const made = await service.post("/api-keys", { name, scopes, projects: [`acme/${name}`] });
    keys[name] = ((await made.json()) as { key: string }).key;
  }
  await isServed();
});
afterAll(async () => {
  await service.end("SIGTERM");
  rmSync(dir, { recursive: true, force: true });
});

/** A small message and a small question of somebody else. */
async function isServed(): Promise<void> {
  const headers = { authorization: authorization(keys["other"]), "content-type": "application/json" };
  const start = { project_id: "acme/other", op_name: "x", started_at: "2026-01-01T00:00:00Z" };
  const asked: readonly (readonly [string, unknown])[] = [
    ["/call/start", { start }],
    ["/trace/usage", { project_id: "acme/other", limit: 1 }],
  ];
  for (const [path, body] of asked) {
    const answer = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await answer.arrayBuffer();
    expect([path, answer.status]).toEqual([path, 200]);
  }
}

/** The status, 0 for a connection that was closed while the body was being sent, and how long the answer is. */
async function send({
  path,
  headers,
  bytes,
  chunkBytes,
}: HostileBody): Promise<{ status: number; bytes: number }> {
  const sent = request(service.url + path, {
    method: "POST",
    agent: false,
    headers: { authorization: authorization(keys["attacker"]), "content-length": bytes.length, ...headers },
  });
  const answered = new Promise<{ status: number; bytes: number }>((resolve) => {
    sent.on("error", () => resolve({ status: 0, bytes: 0 }));
    sent.on("response", (response) => {
      let length = 0;
      const end = (): void => resolve({ status: response.statusCode!, bytes: length });
      response
        .on("data", (chunk: Buffer) => (length += chunk.length))
        .on("end", end)
        .on("error", end);
    });
  });
  const over = new AbortController();
  void answered.then(() => over.abort());
  for (let at = 0; at < bytes.length && !over.signal.aborted; at += chunkBytes) {
    if (sent.write(bytes.subarray(at, at + chunkBytes))) continue;
    await once(sent, "drain", { signal: over.signal }).catch(() => undefined);
  }
  if (over.signal.aborted) sent.destroy();
  else sent.end();
  return answered;
}

interface Cost {
  readonly answer: { readonly status: number; readonly bytes: number };
  /** This and the next at the pace of the machine where the bounds were measured. */
  readonly spentMs: number;
  readonly longestMs: number;
  readonly heapBytes: number;
}

/** Sends it while somebody else is served. */
async function whatItCosts(body: HostileBody): Promise<Cost> {
  const before = await service.meter();
  const sending = new AbortController();
  const answering = send(body).finally(() => sending.abort());
  let asked = 0;
  for (; !sending.signal.aborted || asked === 0; asked++) await isServed();
  const answer = await answering;
  const { processMs, longestMs, heapBytes } = await service.meter();
  const slower = pace();
  const spentMs = (processMs - before.processMs) / slower - asked * 20;
  return { answer, spentMs, longestMs: longestMs / slower, heapBytes };
}

function costsMuch({ spentMs, longestMs }: Cost, body: HostileBody): boolean {
  return longestMs >= MAX_STALL_MS || spentMs >= maxSpentMs(body);
}

function maxSpentMs({ bytes }: HostileBody): number {
  return FREE_MS + MS_PER_BYTE * bytes.length;
}

/** Feedback is returned as it was stored, so what a compressed body became may come back. */
function longestAnswer({ bytes, headers }: HostileBody): number {
  const most = 1_000_000 + 40 * bytes.length;
  return "content-encoding" in headers ? most + 8 * 1024 * 1024 + 100 * bytes.length : most;
}

it(
  "a hostile body costs what it cost to send, and nobody else waits for it",
  { timeout: 1_800_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(hostileBodies(MAX_BODY_BYTES), async (body) => {
        // what else the machine does can only add to the figures
        let seen = await whatItCosts(body);
        for (let again = 0; again < 2 && costsMuch(seen, body); again++) seen = await whatItCosts(body);
        const { answer, spentMs, longestMs, heapBytes } = seen;
        if (process.env["SHOW"] === "1")
          process.stdout.write(
            `${answer.status} ${spentMs.toFixed(0)} ms, stood ${longestMs.toFixed(0)} ms, ${body.name}\n`,
          );
        expect(answer.status === 503 || answer.status < 500, `${body.name}: ${answer.status}`).toBe(true);
        expect(longestMs, `${body.name}: the event loop stood`).toBeLessThan(MAX_STALL_MS);
        expect(spentMs, `${body.name}: processor time`).toBeLessThan(maxSpentMs(body));
        expect(answer.bytes, `${body.name}: length of the answer`).toBeLessThan(longestAnswer(body));
        expect(heapBytes, `${body.name}: heap`).toBeLessThan(MAX_HEAP_BYTES);
      }),
      { numRuns: runs(12, 100), endOnFailure: process.env["SHRINK"] !== "1" },
    );
  },
);
