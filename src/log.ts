import { pino, type Logger } from "pino";

const FLUSH_MS = 100;
const FLUSH_BYTES = 8 * 1024;

/**
 * Logs to stdout, a line of JSON each. Lines are written together, because a write stops the event loop: 100 ms after
 * they came, at the latest, and when the process exits.
 */
export function openLog(level: string): Logger {
  const logger = pino({ level }, pino.destination({ dest: 1, sync: true, minLength: FLUSH_BYTES }));
  const flush = (): void => logger.flush();
  setInterval(flush, FLUSH_MS).unref();
  process.on("exit", flush);
  return logger;
}
