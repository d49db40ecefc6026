import { pino } from "pino";
import { buildApp } from "./app.ts";
import { keptRootKey } from "./auth/root-key.ts";
import { migrate } from "./clickhouse/migrate.ts";
import { ConfigError, readConfig, type Config } from "./config.ts";
import { openStore } from "./open-store.ts";

await start().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : startFailure(error));
  process.exit(1);
});

async function start(): Promise<void> {
  const config = readConfig();
  const logger = pino({ level: config.LOG_LEVEL });
  const engine = await openStore(config);
  await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
  const app = await buildApp(config, { engine, rootKey: rootKeyOf(config), logger });

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), config.SHUTDOWN_TIMEOUT_MS).unref();
    await app.close();
    await engine.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      void stop(signal);
    });
  }
  await app.listen({ host: config.HOST, port: config.PORT });
}

function rootKeyOf(config: Config): string {
  if (config.ROOT_API_KEY !== undefined) return config.ROOT_API_KEY;
  const { key, created } = keptRootKey(config.DATA_DIR);
  if (created) console.log(`Admin key (shown once, kept in ${config.DATA_DIR}/root-api-key): ${key}`);
  return key;
}

function startFailure(error: unknown): string {
  return `Sumtree could not start: ${error instanceof Error ? error.message : String(error)}`;
}
