import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "node:http";
import { pino } from "pino";
import { buildApp } from "../src/app.ts";
import { generateKey } from "../src/auth/api-key.ts";
import { openEmbedded } from "../src/clickhouse/connect.ts";
import type { Engine } from "../src/clickhouse/engine.ts";
import { migrate } from "../src/clickhouse/migrate.ts";
import { readConfig } from "../src/config.ts";

export interface BenchService {
  readonly engine: Engine;
  readonly url: string;
  readonly key: string;
  /** Sends a request over a kept connection, reads the whole answer and returns its size. Throws unless it is a 200. */
  ask(path: string, body: object): Promise<number>;
  close(): Promise<void>;
}

/** The service as it runs, on the embedded engine, listening on loopback. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<BenchService> {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
  const engine = await openEmbedded(dataDir);
  await migrate(engine, { cluster: undefined });
  const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent", PORT: "0", ...settings });
  const key = generateKey().text;
  const app = await buildApp(config, { engine, rootKey: key, logger: pino({ level: "silent" }) });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const agent = new Agent({ keepAlive: true });
  return {
    engine,
    url,
    key,
    ask: (path, body) => send(url + path, { agent, key, body: JSON.stringify(body) }),
    async close() {
      agent.destroy();
      await app.close();
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function send(
  url: string,
  { agent, key, body }: { agent: Agent; key: string; body: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let size = 0;
      response.on("data", (chunk: Buffer) => (size += chunk.length));
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(size)
          : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
