import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { generateKey } from "../src/http/auth/api-key.ts";
import type { Engine } from "../src/store/engine.ts";
import { migrate, missingMigrations } from "../src/store/schema/migrate.ts";
import { readMigrations } from "../src/store/schema/migrations.ts";
import { StoreOpenError } from "../src/store/store-open-error.ts";
import type { Config } from "../src/config.ts";
import { createLog } from "../src/log.ts";
import { openStore } from "../src/open-store.ts";
import { readListenUrl } from "../src/service-address.ts";

type Method = "GET" | "POST" | "DELETE";

/** The service's own API with the root key: over HTTP if it runs, otherwise in this process. */
export interface Service {
  ask<Answer>(method: Method, path: string, body?: object): Promise<Answer>;
  /** Posts a request; its response is read as it comes, and fails if it breaks off. */
  stream(path: string, body: object): Promise<Streamed>;
  close(): Promise<void>;
}

export interface Streamed {
  readonly header: (name: string) => string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface OpenOptions {
  /** The address of a service; undefined: the one that has the store of the settings open. */
  readonly url: string | undefined;
  /** Whether to create a missing store. */
  readonly mayMake: boolean;
}

/** Errors: no store, or one of another version, because only a start of the service migrates a store. */
export async function openService(config: Config, { url, mayMake }: OpenOptions): Promise<Service> {
  if (url !== undefined) return overHttp(config, url);
  const embedded = config.CLICKHOUSE_URL === undefined;
  if (embedded && !mayMake && !existsSync(join(config.DATA_DIR, "metadata"))) throw noStore(config);
  let engine: Engine;
  try {
    engine = await openStore(config);
  } catch (error) {
    if (!(error instanceof StoreOpenError && error.reason === "locked")) throw error;
    return overHttp(config, readListenUrl(config.DATA_DIR) ?? `http://${config.HOST}:${config.PORT}`);
  }
  try {
    await checkMigrations(config, engine, mayMake);
    return await inProcess(config, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function checkMigrations(config: Config, engine: Engine, mayMake: boolean): Promise<void> {
  const missing = await missingMigrations(engine);
  if (missing.length === 0) return;
  const isNew = missing.length === readMigrations().length;
  if (isNew && !mayMake) throw noStore(config);
  if (!isNew) {
    throw new Error("The store is of an earlier version. Start the service or run `npm run migrate` first.");
  }
  await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
  console.error("Made a new store.");
}

function noStore(config: Config): Error {
  return new Error(
    config.CLICKHOUSE_URL === undefined
      ? `There is no store in ${config.DATA_DIR} yet. Start the service first, or set DATA_DIR to its directory.`
      : "There is no store in the database that CLICKHOUSE_URL names yet. Start the service first.",
  );
}

/** A root key for this process alone: the permanent one is made, and shown, by the first start of the service. */
async function inProcess(config: Config, engine: Engine): Promise<Service> {
  const rootKey = generateKey().text;
  // not loaded by a command that asks a running service
  const { buildApp } = await import("../src/app.ts");
  const app = await buildApp(config, {
    engine,
    rootKey,
    logger: createLog({ ...config, LOG_LEVEL: "warn" }, pino.destination(1)),
  });
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
    async stream(url, payload) {
      const headers = { authorization: `Bearer ${rootKey}` };
      const response = await app.inject({ method: "POST", url, headers, payload, payloadAsStream: true });
      const chunks = response.stream();
      if (response.statusCode >= 400) answerOf(response.statusCode, await text(chunks));
      return { header: (name) => response.headers[name]?.toString() ?? null, chunks };
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
  const send = (method: Method, path: string, body?: object): Promise<Response> =>
    fetch(new URL(path, base), {
      method,
      headers: { authorization: `Bearer ${rootKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new Error(`No service answers at ${base}. Give the address of yours with --url.`, { cause });
    });
  return {
    async ask<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
      const response = await send(method, path, body);
      return answerOf<Answer>(response.status, await response.text());
    },
    async stream(path, body) {
      const response = await send("POST", path, body);
      if (!response.ok) answerOf(response.status, await response.text());
      return { header: (name) => response.headers.get(name), chunks: response.body! };
    },
    close: () => Promise.resolve(),
  };
}

function answerOf<Answer>(status: number, text: string): Answer {
  const response = (text === "" ? {} : JSON.parse(text)) as { detail?: unknown };
  if (status < 400) return response as Answer;
  const faults = Array.isArray(response.detail)
    ? (response.detail as { loc: readonly string[]; msg: string }[]).map(({ loc, msg }) =>
        loc.length > 1 ? `${loc.slice(1).join(".")}: ${msg}` : msg,
      )
    : [String(response.detail)];
  throw new Error(faults.join("\n"));
}
