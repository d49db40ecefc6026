import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { Journal } from "./journal/journal.ts";
import { openJournal } from "./journal/open-journal.ts";

/** Of what a store that does not answer may leave to it. */
const MAX_BYTES = 256 * 1024 * 1024;
const FAILURE_LOG_INTERVAL_MS = 60_000;

/** The journal for the store that the settings name. Undefined: there is no room for one, and the service works without. */
export function openStoreJournal(config: Config, logger: Logger): Journal | undefined {
  const dir = join(config.DATA_DIR, "journal");
  let failures = 0;
  let nextLogMs = 0;
  const onFailure = (error: unknown): void => {
    failures++;
    if (performance.now() < nextLogMs) return;
    nextLogMs = performance.now() + FAILURE_LOG_INTERVAL_MS;
    logger.error({ err: error, failures }, "the journal cannot be written: a kill would lose completions");
  };
  try {
    const opened = openJournal(dir, storeNameOf(config), { maxBytes: MAX_BYTES, onFailure });
    const { journal, ofOtherStores, damaged } = opened;
    if (journal.orphaned.length > 0)
      logger.warn({ records: journal.orphaned.length }, "a process was killed: its journal is read");
    if (ofOtherStores > 0)
      logger.warn({ dir, records: ofOtherStores }, "the journal of another store waits in DATA_DIR");
    for (const path of damaged) logger.error({ path }, "a journal is damaged and was put aside");
    return journal;
  } catch (error) {
    logger.error({ err: error, dir }, "there is no journal: a kill would lose completions");
    return undefined;
  }
}

/** The same for all ways to write the URLs of a store; without their credentials. */
function storeNameOf({ CLICKHOUSE_URL: urls, CLICKHOUSE_CLUSTER: cluster }: Config): string {
  if (urls === undefined) return "embedded";
  const places = urls.map((text) => new URL(text)).map((url) => `${url.host}${url.pathname}${url.search}`);
  return JSON.stringify([cluster ?? "", ...places.toSorted()]);
}
