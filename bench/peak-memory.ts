import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ServiceProcess } from "../test/helpers/service-process.ts";

/** Measures the peak of the service's resident memory during `work`, in MiB above that before. Linux. */
export async function peakAboveIdle(service: ServiceProcess, work: () => Promise<unknown>): Promise<number> {
  await delay(1000);
  const { pid } = service.child;
  const idleMiB = service.residentMiB();
  writeFileSync(`/proc/${pid}/clear_refs`, "5"); // resets the peak
  await work();
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024 - idleMiB;
}
