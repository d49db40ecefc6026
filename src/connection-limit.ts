import type { Config } from "./config.ts";

/** File descriptors reserved for the embedded engine and the rest of the process. Source: docs/configuration.md. */
const EMBEDDED_RESERVE = 700;
const OTHER_RESERVE = 150;
const MIN_CONNECTIONS = 32;
const MAX_CONNECTIONS = 20_000;

interface DescriptorUse {
  readonly embedded: boolean;
  /** A gateway request uses a second descriptor. */
  readonly gateway: boolean;
}

/** Computes the client connections that fit below the open-files limit. */
export function connectionsThatFit(openFiles: number, { embedded, gateway }: DescriptorUse): number {
  const left = openFiles - OTHER_RESERVE - (embedded ? EMBEDDED_RESERVE : 0);
  return Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, Math.floor(left / (gateway ? 2 : 1))));
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

/** Returns the connection limit: the setting, else as many as fit. */
export function connectionLimit(config: Config): number {
  return (
    config.MAX_CONNECTIONS ??
    connectionsThatFit(openFilesLimit(), {
      embedded: config.CLICKHOUSE_URL === undefined,
      gateway: config.TRAINING_UPSTREAM_URL !== undefined || config.CHAT_UPSTREAM_URL !== undefined,
    })
  );
}
