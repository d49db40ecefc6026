import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { authorization } from "../../test/helpers/start-app.ts";
import type { ServiceProcess } from "../../test/helpers/service-process.ts";

const MIB = 2 ** 20;

/** Memory, disk and latency after a garbage collection. */
export interface Sample {
  readonly residentMiB: number;
  /** The JavaScript heap. */
  readonly heapMiB: number;
  /** Buffers and other memory outside the heap. */
  readonly externalMiB: number;
  readonly openFiles: number;
  /** Parts of all tables, including merged parts that are not deleted yet. */
  readonly parts: number;
  readonly dataMiB: number;
}

export async function takeSample(service: ServiceProcess, dataDir: string): Promise<Sample> {
  const metrics = await readMetrics(service);
  const { parts, bytes } = sizeOf(dataDir);
  return {
    residentMiB: service.residentMiB(),
    heapMiB: metrics("nodejs_heap_size_used_bytes") / MIB,
    externalMiB: metrics("nodejs_external_memory_bytes") / MIB,
    openFiles: metrics("process_open_fds"),
    parts,
    dataMiB: bytes / MIB,
  };
}

/** The value of a metric in `/metrics`; 0 if it is missing. */
export async function readMetrics(service: ServiceProcess): Promise<(name: string) => number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
  const text = await response.text();
  return (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}

/** Does not count files that disappear meanwhile. */
function sizeOf(dir: string): { parts: number; bytes: number } {
  const total = { parts: 0, bytes: 0 };
  for (const entry of entriesOf(dir)) {
    if (entry.isDirectory()) {
      const { parts, bytes } = sizeOf(join(dir, entry.name));
      total.parts += parts;
      total.bytes += bytes;
    } else {
      if (entry.name === "checksums.txt") total.parts++;
      total.bytes += statSync(join(dir, entry.name), { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return total;
}

function entriesOf(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}
