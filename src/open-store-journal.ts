import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { type Journal, openJournal } from "./journal/journal.ts";

/** Journal size limit, reached while the store is unavailable. */
const MAX_BYTES = 256 * 1024 * 1024;
const FAILURE_LOG_INTERVAL_MS = 60_000;

/** Opens the journal of the configured store; `undefined` if it cannot be opened: the service runs without it. */
export function openStoreJournal(config: Config, logger: Logger): Journal | undefined {
  const dir = join(config.DATA_DIR, "journal");
  let failures = 0;
  let nextLogMs = 0;
  const onFailure = (error: unknown): void => {
    failures++;
    if (performance.now() < nextLogMs) return;
    nextLogMs = performance.now() + FAILURE_LOG_INTERVAL_MS;
    logger.error({ err: error, failures }, "journal not writable: a kill would lose completions");
  };
  try {
    const opened = openJournal(dir, storeNameOf(config), { maxBytes: MAX_BYTES, onFailure });
    const { journal, ofOtherStores, damaged } = opened;
    if (journal.orphaned.length > 0)
      logger.warn({ records: journal.orphaned.length }, "recovering journal of a killed process");
    if (ofOtherStores > 0)
      logger.warn({ dir, records: ofOtherStores }, "journal of another store found in DATA_DIR");
    if (damaged !== undefined) logger.error({ path: damaged }, "corrupt journal renamed");
    return journal;
  } catch (error) {
    logger.error({ err: error, dir }, "journal not opened: a kill would lose completions");
    return undefined;
  }
}

/** Returns a name of the store that does not depend on URL order or credentials. */
function storeNameOf({ CLICKHOUSE_URL: urls, CLICKHOUSE_CLUSTER: cluster }: Config): string {
  if (urls === undefined) return "embedded";
  const servers = urls.map((text) => new URL(text)).map((url) => `${url.host}${url.pathname}${url.search}`);
  return JSON.stringify([cluster ?? "", ...servers.toSorted()]);
}
