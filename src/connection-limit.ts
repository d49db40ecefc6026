import type { Config } from "./config.ts";

/** The file descriptors that the embedded engine, and the rest of this process, may need. Source: docs/configuration.md. */
const EMBEDDED_RESERVE = 700;
const OTHER_RESERVE = 150;
const FEWEST = 32;
const MOST = 20_000;

interface DescriptorUse {
  readonly embedded: boolean;
  /** A request through the gateway takes a second one. */
  readonly gateway: boolean;
}

/** How many client connections fit below the process's limit on open files, next to its other descriptors. */
export function connectionsThatFit(openFiles: number, { embedded, gateway }: DescriptorUse): number {
  const left = openFiles - OTHER_RESERVE - (embedded ? EMBEDDED_RESERVE : 0);
  return Math.min(MOST, Math.max(FEWEST, Math.floor(left / (gateway ? 2 : 1))));
}

/** The process's limit on open files; Node has raised the soft one to the hard one. Infinity: none. */
export function openFilesLimit(): number {
  // no look-ups of names
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Infinity;
}

/** How many client connections this process accepts: the setting, else as many as fit. */
export function connectionLimit(config: Config): number {
  return (
    config.MAX_CONNECTIONS ??
    connectionsThatFit(openFilesLimit(), {
      embedded: config.CLICKHOUSE_URL === undefined,
      gateway: config.TRAINING_UPSTREAM_URL !== undefined || config.CHAT_UPSTREAM_URL !== undefined,
    })
  );
}
