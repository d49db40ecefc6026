import type { Logger } from "pino";
import { buildApp, type App } from "./app.ts";
import { createKeyStore } from "./http/auth/key-store.ts";
import { keepRootKey, rootKeyOf } from "./http/auth/root-key.ts";
import type { Engine } from "./store/engine.ts";
import { migrate } from "./store/schema/migrate.ts";
import { takeRestored } from "./store/transport/data-dir.ts";
import { isOlder } from "./store/transport/server-version.ts";
import { readConfig, misspeltSettings, type Config } from "./config.ts";
import { openFilesLimit } from "./connection-limit.ts";
import { openLog } from "./log.ts";
import { openStore } from "./open-store.ts";
import { openStoreJournal } from "./open-store-journal.ts";
import { writeListenUrl } from "./service-address.ts";
import { describeStartFailure, ServerTooOldError } from "./start-failure.ts";
import { VERSION } from "./version.ts";
import { startWatchdog } from "./watchdog.ts";

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
  for (const one of misspeltSettings())
    logger.warn(one, "unknown variable that looks like a misspelt setting");
  const engine = await openStore(settings, (change) =>
    logger.info(change, "a server of the store has changed"),
  );
  const version = await engine.version();
  if (isOlder(version)) throw new ServerTooOldError(version);
  const onWait = (problem: string): void => logger.warn({ problem }, "waiting for the store's servers");
  const applied = await migrate(engine, { cluster: settings.CLICKHOUSE_CLUSTER, onWait });
  const store = settings.CLICKHOUSE_URL === undefined ? "embedded" : "server";
  logger.info({ store, store_version: version, applied }, "store is ready");
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
  if (settings.MAX_STANDSTILL_SECONDS > 0) startWatchdog(settings.MAX_STANDSTILL_SECONDS);
  if (settings.CLICKHOUSE_URL === undefined) writeListenUrl(dataDir, url);
  if (root.isNew) showKey(root.key, keepRootKey(dataDir, root.key));
}

/** A backup does not know which of its keys were revoked after it was made. */
async function warnOfRestoredKeys(engine: Engine, dataDir: string, logger: Logger): Promise<void> {
  const backup = takeRestored(dataDir);
  if (backup === undefined) return;
  const keys = (await createKeyStore(engine).list()).map(({ id, name }) => ({ id, name }));
  logger.warn({ backup, keys }, "restored: keys that were revoked after the backup are valid again");
}

/** Not on stdout, which is the log. Once the service is up, so that a start that fails does not use up the one time. */
function showKey(key: string, path: string): void {
  console.error(`Admin key, shown once and kept in ${path}:\n${key}`);
}

interface Running {
  readonly app: App;
  /** Closes what the app does not. */
  readonly close: () => Promise<void>;
  readonly logger: Logger;
  readonly timeoutMs: number;
}

/** A terminal, npm and a supervisor may each pass on the same signal. */
const SAME_SIGNAL_MS = 500;

/**
 * The first signal: stop accepting, finish what ends in time, cut the rest, flush, exit 0. The deadline or a second
 * signal: exit 1.
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
      logger.error({ timeout_ms: timeoutMs }, "could not stop in time");
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
        logger.error({ err: error }, "could not stop in order");
        process.exit(1);
      });
    });
  }
}
