import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import type { Watched } from "./watchdog.ts";

const { beats, seconds } = workerData as Watched;
const STDERR = 2;
let seen = -1;
let stood = 0;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  stood = beat === seen ? stood + 1 : 0;
  seen = beat;
  if (stood < seconds) return;
  try {
    writeSync(STDERR, `Sumtree ends: its event loop has stood for ${seconds} s (MAX_STANDSTILL_SECONDS).\n`);
  } finally {
    // nothing of this process can be relied on
    process.kill(process.pid, "SIGKILL");
  }
}, 1000);
