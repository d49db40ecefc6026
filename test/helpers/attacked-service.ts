import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostileBody } from "../models/hostile-bodies.ts";
import { startMetered, type Metered } from "./service-process.ts";
import { authorization, ROOT_KEY } from "./start-app.ts";

export interface HostileResponse {
  /** 0 for a connection that was closed while the body was being sent. */
  readonly status: number;
  readonly bytes: number;
}

/** A service with two projects: one sends hostile bodies, and the other asks small things meanwhile. */
export interface AttackedService {
  /** Sends it while the other project is served; the answer, and how often the other was served. */
  attack(body: HostileBody): Promise<{ readonly answer: HostileResponse; readonly served: number }>;
  meter(): Promise<Metered>;
  close(): Promise<void>;
}

/** `main`: that of another version. */
export async function startAttacked(main?: string): Promise<AttackedService> {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-hostile-"));
  const service = await startMetered({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY }, main);
  const makeKey = async (name: string): Promise<string> => {
    const scopes = ["ingest", "read", "prices"];
    const made = await service.post("/api-keys", { name, scopes, projects: [`acme/${name}`] });
    return ((await made.json()) as { key: string }).key;
  };
  const attacker = await makeKey("attacker");
  const headers = {
    authorization: authorization(await makeKey("other")),
    "content-type": "application/json",
  };

  /** A small message and a small question of the other project. */
  async function serveOther(): Promise<void> {
    const start = { project_id: "acme/other", op_name: "x", started_at: "2026-01-01T00:00:00Z" };
    const requests: readonly (readonly [string, unknown])[] = [
      ["/call/start", { start }],
      ["/trace/usage", { project_id: "acme/other", limit: 1 }],
    ];
    for (const [path, body] of requests) {
      const answer = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${path} of the other project: ${answer.status}`);
    }
  }
  await serveOther();
  return {
    async attack(body) {
      const sending = new AbortController();
      const answering = send(service.url, attacker, body).finally(() => sending.abort());
      let served = 0;
      for (; !sending.signal.aborted || served === 0; served++) await serveOther();
      return { answer: await answering, served };
    },
    meter: () => service.meter(),
    async close() {
      await service.end("SIGTERM");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function send(
  url: string,
  key: string,
  { path, headers, bytes, chunkBytes }: HostileBody,
): Promise<HostileResponse> {
  const sent = request(url + path, {
    method: "POST",
    agent: false,
    headers: { authorization: authorization(key), "content-length": bytes.length, ...headers },
  });
  const responded = new Promise<HostileResponse>((resolve) => {
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
  void responded.then(() => over.abort());
  for (let at = 0; at < bytes.length && !over.signal.aborted; at += chunkBytes) {
    if (sent.write(bytes.subarray(at, at + chunkBytes))) continue;
    await once(sent, "drain", { signal: over.signal }).catch(() => undefined);
  }
  if (over.signal.aborted) sent.destroy();
  else sent.end();
  return responded;
}
