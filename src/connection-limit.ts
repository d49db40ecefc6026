import type { Config } from "./config.ts";

/** File descriptors reserved for the embedded engine and the rest of the process. Source: docs/configuration.md. */
const EMBEDDED_RESERVE = 700;
const OTHER_RESERVE = 150;
const MIN_CONNECTIONS = 32;

interface DescriptorUse {
  readonly embedded: boolean;
  /** A gateway request uses a second descriptor. */
  readonly gateway: boolean;
}

/** Computes the client connections that fit below the open-files limit. */
export function connectionsThatFit(openFiles: number, { embedded, gateway }: DescriptorUse): number {
  const left = openFiles - OTHER_RESERVE - (embedded ? EMBEDDED_RESERVE : 0);
  return Math.max(MIN_CONNECTIONS, Math.floor(left / (gateway ? 2 : 1)));
}

/** Reads the open-files limit; Node raised the soft limit to the hard one. Infinity: unlimited. */
export function openFilesLimit(): number {
  // skip DNS lookups
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Infinity;
}

/** Returns the connection limit: as many as fit, at most `MAX_CONNECTIONS`. */
export function connectionLimit(config: Config): number {
  const embedded = config.CLICKHOUSE_URL === undefined;
  const gateway = config.TRAINING_UPSTREAM_URL !== undefined || config.CHAT_UPSTREAM_URL !== undefined;
  return Math.min(config.MAX_CONNECTIONS, connectionsThatFit(openFilesLimit(), { embedded, gateway }));
}
