/** First server version that reports mid-stream failures reliably. Source: docs/decisions/0004-clickhouse-adapters.md. */
export const MIN_SERVER_VERSION = "26.3";

/** Compares the first two numbers of versions like "25.11.2.17". */
export function isOlder(version: string, minimum: string = MIN_SERVER_VERSION): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = minimum.split(".").map(Number);
  return major < minMajor || (major === minMajor && minor < minMinor);
}
