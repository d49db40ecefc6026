import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp } from "../../src/app.ts";
import { keptRootKey } from "../../src/auth/root-key.ts";
import type { Engine } from "../../src/clickhouse/engine.ts";
import { migrate } from "../../src/clickhouse/migrate.ts";
import { StoreOpenError } from "../../src/clickhouse/store-open-error.ts";
import type { Config } from "../../src/config.ts";
import { openStore } from "../../src/open-store.ts";

type Method = "GET" | "POST" | "DELETE";

/** The service's own API, asked with the root key: over HTTP where it runs, in this process otherwise. */
export interface Service {
  ask<Answer>(method: Method, path: string, body?: object): Promise<Answer>;
  close(): Promise<void>;
}

export async function openService(config: Config, url: string | undefined): Promise<Service> {
  if (url !== undefined) return overHttp(config, url);
  try {
    return await inProcess(config, await openStore(config));
  } catch (error) {
    if (!(error instanceof StoreOpenError && error.reason === "locked")) throw error;
    return overHttp(config, `http://${config.HOST}:${config.PORT}`);
  }
}

async function inProcess(config: Config, engine: Engine): Promise<Service> {
  await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
  const rootKey = config.ROOT_API_KEY ?? keptRootKey(config.DATA_DIR).key;
  const app = await buildApp(config, { engine, rootKey, logger: pino({ level: "warn" }) });
  return {
    async ask<Answer>(method: Method, url: string, body?: object): Promise<Answer> {
      const response = await app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${rootKey}` },
        ...(body === undefined ? {} : { payload: body }),
      });
      return answerOf<Answer>(response.statusCode, response.payload);
    },
    async close() {
      await app.close();
      await engine.close();
    },
  };
}

function overHttp(config: Config, base: string): Service {
  const kept = join(config.DATA_DIR, "root-api-key");
  const rootKey = config.ROOT_API_KEY ?? (existsSync(kept) ? readFileSync(kept, "utf8").trim() : undefined);
  if (rootKey === undefined)
    throw new Error("Set ROOT_API_KEY, or DATA_DIR to the service's data directory.");
  return {
    async ask<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
      const response = await fetch(new URL(path, base), {
        method,
        headers: { authorization: `Bearer ${rootKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((cause: unknown) => {
        throw new Error(`No service answers at ${base}.`, { cause });
      });
      return answerOf<Answer>(response.status, await response.text());
    },
    close: () => Promise.resolve(),
  };
}

function answerOf<Answer>(status: number, text: string): Answer {
  const answer = (text === "" ? {} : JSON.parse(text)) as { detail?: unknown };
  if (status < 400) return answer as Answer;
  const faults = Array.isArray(answer.detail)
    ? (answer.detail as { loc: readonly string[]; msg: string }[]).map(
        (one) => `${one.loc.slice(1).join(".")}: ${one.msg}`,
      )
    : [String(answer.detail)];
  throw new Error(faults.join("\n"));
}
