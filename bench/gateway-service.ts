import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ServiceProcess } from "../test/helpers/service-process.ts";

export const BENCH_KEY = "st_bench0000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

export async function startUpstream(): Promise<{ child: ChildProcess; url: string }> {
  const script = join(import.meta.dirname, "../scripts/reference-upstream.ts");
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env["PATH"], PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /TRAINING_UPSTREAM_URL=(\S+)/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error("the reference upstream did not start");
}

export async function metric(service: ServiceProcess, name: string): Promise<number> {
  const answer = await fetch(`${service.url}/metrics`, {
    headers: { authorization: `Bearer ${BENCH_KEY}` },
  });
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text())?.[1];
  return Number(value);
}
