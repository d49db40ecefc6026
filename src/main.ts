import type { Logger } from "pino";
import { buildApp, type App } from "./app.ts";
import { createKeyStore } from "./http/auth/key-store.ts";
import { keepRootKey, rootKeyOf } from "./http/auth/root-key.ts";
import type { Engine } from "./store/engine.ts";
import { migrate } from "./store/schema/migrate.ts";
import { takeRestored } from "./store/transport/data-dir.ts";
import { readConfig, misspeltSettings, type Config } from "./config.ts";
import { openFilesLimit } from "./connection-limit.ts";
import { openLog } from "./log.ts";
import { openStore } from "./open-store.ts";
import { openStoreJournal } from "./open-store-journal.ts";
import { writeListenUrl } from "./service-address.ts";
import { describeStartFailure } from "./start-failure.ts";
import { VERSION } from "./version.ts";

let config: Config | undefined;
try {
  config = readConfig();
  await start(config);
} catch (error) {
  console.error(describeStartFailure(error, config));
  process.exit(1);
}

async function start(settings: Config): Promise<void> {
  const logger = openLog(settings);
  logger.info({ version: VERSION, node: process.version, open_files: openFilesLimit() }, "starting");
  for (const one of misspeltSettings()) logger.warn(one, "unknown variable resembles a setting");
  const engine = await openStore(settings, (server) => logger.info({ server }, "ClickHouse server serves"));
  const onWait = (problem: string): void => logger.warn({ problem }, "waiting for ClickHouse servers");
  const applied = await migrate(engine, { cluster: settings.CLICKHOUSE_CLUSTER, onWait });
  const store = settings.CLICKHOUSE_URL === undefined ? "embedded" : "server";
  logger.info({ store, store_version: await engine.version(), applied }, "store ready");
  const { ROOT_API_KEY: given, DATA_DIR: dataDir } = settings;
  if (store === "embedded") await warnOfRestoredKeys(engine, dataDir, logger);
  const root = given === undefined ? rootKeyOf(dataDir) : { key: given, isNew: false };
  const journal = openStoreJournal(settings, logger);
  const app = await buildApp(settings, { engine, rootKey: root.key, journal, logger });
  const close = async (): Promise<void> => {
    await engine.close();
    journal?.close();
  };
  stopOnSignals({ app, close, logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS });
  const url = await app.listen({ host: settings.HOST, port: settings.PORT });
  logger.flush();
  if (settings.CLICKHOUSE_URL === undefined) writeListenUrl(dataDir, url);
  if (root.isNew) showKey(root.key, keepRootKey(dataDir, root.key));
}

/** Warns that keys revoked after the backup are valid again. */
async function warnOfRestoredKeys(engine: Engine, dataDir: string, logger: Logger): Promise<void> {
  const backup = takeRestored(dataDir);
  if (backup === undefined) return;
  const keys = (await createKeyStore(engine).list()).map(({ id, name }) => ({ id, name }));
  logger.warn({ backup, keys }, "backup restored: keys revoked after the backup are valid again");
}

/** Prints the generated admin key once the service is up, to stderr because stdout is the log. */
function showKey(key: string, path: string): void {
  console.error(`Admin key, shown once and kept in ${path}:\n${key}`);
}

interface Running {
  readonly app: App;
  /** Closes store and journal. */
  readonly close: () => Promise<void>;
  readonly logger: Logger;
  readonly timeoutMs: number;
}

/** A terminal, npm and a supervisor may each forward the same signal. */
const SAME_SIGNAL_MS = 500;

/**
 * Stops gracefully on the first signal: stops accepting, finishes responses in time, aborts the rest, flushes, exits 0.
 * Exits 1 at the deadline or on a second signal.
 */
function stopOnSignals({ app, close, logger, timeoutMs }: Running): void {
  let stoppingSince: number | undefined;
  const stop = async (signal: string): Promise<void> => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ signal }, "stopping");
    setTimeout(() => {
      logger.error({ timeout_ms: timeoutMs }, "shutdown deadline exceeded");
      process.exit(1);
    }, timeoutMs).unref();
    try {
      await app.close();
    } finally {
      await close();
    }
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ err: error }, "shutdown failed");
        process.exit(1);
      });
    });
  }
}
