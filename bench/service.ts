import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp } from "../src/app.ts";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import type { Engine, QueryOptions, RawFormat } from "../src/store/engine.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { release } from "../src/shared/buffers.ts";
import { readConfig } from "../src/config.ts";
import type { Sql } from "../src/query/sql.ts";
import type { AskResult, AskTask } from "./load/ask.ts";

export interface BenchService {
  readonly engine: Engine;
  readonly url: string;
  readonly key: string;
  /** A client process sends a request over an open connection and reads the whole answer. Throws unless it is a 200. */
  ask(path: string, body: object): Promise<void>;
  /** The engine alone produces an answer, which is discarded. */
  read(query: Sql, format: RawFormat, options: QueryOptions): Promise<void>;
  close(): Promise<void>;
}

/** The service on the embedded engine, listening on loopback. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<BenchService> {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
  const engine = await openEmbedded(dataDir);
  await migrate(engine, { cluster: undefined });
  const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent", PORT: "0", ...settings });
  const key = generateKey().text;
  const app = await buildApp(config, { engine, rootKey: key, logger: pino({ level: "silent" }) });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  // V8 collects its heap for every 32 MB it has read, which would count as the service's time
  const execArgv = ["--external-memory-accounted-in-global-limit"];
  const client = fork(join(import.meta.dirname, "load", "ask.ts"), { execArgv });
  return {
    engine,
    url,
    key,
    async ask(path, body) {
      client.send({ url, key, path, body } satisfies AskTask);
      const [{ error }] = (await once(client, "message")) as [AskResult];
      if (error !== null) throw new Error(`${path}: ${error}`);
    },
    async read(query, format, options) {
      release(await engine.bytes(query, format, options));
    },
    async close() {
      client.kill();
      await app.close();
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
