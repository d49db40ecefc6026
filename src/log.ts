import { pino, type DestinationStream, type Logger } from "pino";
import type { Config } from "./config.ts";
import { secretMask } from "./shared/secret-mask.ts";

const FLUSH_MS = 100;
const FLUSH_BYTES = 8 * 1024;

/**
 * Logs to stdout, a line of JSON each. Lines are written together, because a write stops the event loop: 100 ms after
 * they came, at the latest, and when the process exits.
 */
export function openLog(config: Config): Logger {
  const logger = createLog(config, pino.destination({ dest: 1, sync: true, minLength: FLUSH_BYTES }));
  const flush = (): void => logger.flush();
  setInterval(flush, FLUSH_MS).unref();
  process.on("exit", flush);
  return logger;
}

/** Whatever is logged: no line has a secret of the settings, a key, or credentials in a URL or a header. */
export function createLog(config: Config, destination: DestinationStream): Logger {
  const mask = secretMask(secretsOf(config));
  const streamWrite = (line: string): string =>
    mask.text(line).replaceAll(KEYS, "st_$1_***").replaceAll(CREDENTIALS, "$1***$2");
  return pino({ level: config.LOG_LEVEL, hooks: { streamWrite } }, destination);
}

const KEYS = /st_([0-9a-z]{12})_[\w-]{20,}/g;
const CREDENTIALS = /(:\/\/)[^/\s"@]+(@)|(?<=\b(?:basic|bearer) )[\w.~+/=-]{8,}()/gi;

function secretsOf(config: Config): readonly string[] {
  const { TRAINING_UPSTREAM_URL, CHAT_UPSTREAM_URL, CLICKHOUSE_URL = [] } = config;
  const given = [config.ROOT_API_KEY, config.TRAINING_UPSTREAM_API_KEY, config.CHAT_UPSTREAM_API_KEY];
  const urls = [TRAINING_UPSTREAM_URL, CHAT_UPSTREAM_URL, ...CLICKHOUSE_URL];
  return [...given, ...urls.flatMap((url) => (url === undefined ? [] : secretsIn(url)))].filter(
    (secret) => secret !== undefined,
  );
}

/** A password, as it is and as a header has it, and what a query names: a key, perhaps. */
function secretsIn(text: string): readonly string[] {
  const { username, password, searchParams } = new URL(text);
  const [user, secret] = [decoded(username), decoded(password)];
  const header = Buffer.from(`${user}:${secret}`).toString("base64");
  return [password, secret, header, ...searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
