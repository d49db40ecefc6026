import { pino, type Logger } from "pino";
import { buildApp, type App } from "./app.ts";
import { keptRootKey } from "./auth/root-key.ts";
import type { Engine } from "./clickhouse/engine.ts";
import { migrate } from "./clickhouse/migrate.ts";
import { isOlder } from "./clickhouse/server-version.ts";
import { readConfig, type Config } from "./config.ts";
import { openStore } from "./open-store.ts";
import { describeStartFailure, ServerTooOldError } from "./start-failure.ts";

let config: Config | undefined;
try {
  config = readConfig();
  await start(config);
} catch (error) {
  console.error(describeStartFailure(error, config));
  process.exit(1);
}

async function start(settings: Config): Promise<void> {
  const logger = pino({ level: settings.LOG_LEVEL });
  const engine = await openStore(settings);
  const version = await engine.version();
  if (isOlder(version)) throw new ServerTooOldError(version);
  const applied = await migrate(engine, { cluster: settings.CLICKHOUSE_CLUSTER });
  const store = settings.CLICKHOUSE_URL === undefined ? "embedded" : "server";
  logger.info({ store, version, applied }, "store is ready");
  const app = await buildApp(settings, { engine, rootKey: rootKeyOf(settings), logger });
  stopOnSignals({ app, engine, logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS });
  await app.listen({ host: settings.HOST, port: settings.PORT });
}

interface Running {
  readonly app: App;
  readonly engine: Engine;
  readonly logger: Logger;
  readonly timeoutMs: number;
}

/** The first signal: stop accepting, finish what runs, flush, exit 0. The deadline or a second signal: exit 1. */
function stopOnSignals({ app, engine, logger, timeoutMs }: Running): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    setTimeout(() => {
      logger.error({ timeout_ms: timeoutMs }, "could not stop in time");
      process.exit(1);
    }, timeoutMs).unref();
    await app.close();
    await engine.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ err: error }, "could not stop in order");
        process.exit(1);
      });
    });
  }
}

function rootKeyOf(settings: Config): string {
  if (settings.ROOT_API_KEY !== undefined) return settings.ROOT_API_KEY;
  const { key, created } = keptRootKey(settings.DATA_DIR);
  if (created) console.log(`Admin key (shown once, kept in ${settings.DATA_DIR}/root-api-key): ${key}`);
  return key;
}
