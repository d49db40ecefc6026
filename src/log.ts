import { pino, type DestinationStream, type Logger } from "pino";
import type { Config } from "./config.ts";
import { secretMask } from "./shared/secret-mask.ts";

const FLUSH_MS = 100;
const FLUSH_BYTES = 8 * 1024;

/**
 * Opens a JSON-lines log on stdout. Writes block the event loop, so lines are batched for at most 100 ms and flushed at
 * exit.
 */
export function openLog(config: Config): Logger {
  const logger = createLog(config, pino.destination({ dest: 1, sync: true, minLength: FLUSH_BYTES }));
  const flush = (): void => logger.flush();
  setInterval(flush, FLUSH_MS).unref();
  process.on("exit", flush);
  return logger;
}

/** Creates a log that masks configured secrets, API keys, and credentials in URLs and headers. */
export function createLog(config: Config, destination: DestinationStream): Logger {
  const forms = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  const mask = secretMask(secretsOf(config).flatMap(forms));
  const streamWrite = (line: string): string =>
    mask.text(line).replaceAll(KEYS, "st_$1_***").replaceAll(CREDENTIALS, "$1***$2");
  return pino({ level: config.LOG_LEVEL, hooks: { streamWrite } }, destination);
}

const KEYS = /st_([0-9a-z]{12})_[\w-]{20,}/g;
const CREDENTIALS = /(:\/\/)[^/\s"@]+(@)|(?<=\b(?:basic|bearer) )[\w.~+/=-]{8,}()/gi;

function secretsOf(config: Config): readonly string[] {
  const { gatewayRoutes = [], CLICKHOUSE_URL = [] } = config;
  const upstreams = [
    { url: config.TRAINING_UPSTREAM_URL, apiKey: config.TRAINING_UPSTREAM_API_KEY },
    { url: config.CHAT_UPSTREAM_URL, apiKey: config.CHAT_UPSTREAM_API_KEY },
    { url: config.ANTHROPIC_UPSTREAM_URL, apiKey: config.ANTHROPIC_UPSTREAM_API_KEY },
    { url: config.GEMINI_UPSTREAM_URL, apiKey: config.GEMINI_UPSTREAM_API_KEY },
    ...gatewayRoutes,
  ];
  const given = [config.ROOT_API_KEY, ...upstreams.map(({ apiKey }) => apiKey)];
  const urls = [...upstreams.map(({ url }) => url), ...CLICKHOUSE_URL];
  return [...given, ...urls.flatMap((url) => (url === undefined ? [] : secretsIn(url)))].filter(
    (secret) => secret !== undefined,
  );
}

/** Returns the secrets of a URL: password, its Basic credential, and query values. */
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
