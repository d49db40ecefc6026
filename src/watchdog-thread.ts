import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import type { Watched } from "./watchdog.ts";

const { beats, seconds } = workerData as Watched;
const STDERR = 2;
let seen = -1;
let blockedSeconds = 0;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  blockedSeconds = beat === seen ? blockedSeconds + 1 : 0;
  seen = beat;
  if (blockedSeconds < seconds) return;
  try {
    writeSync(STDERR, `Sumtree exits: event loop blocked for ${seconds} s (MAX_STANDSTILL_SECONDS).\n`);
  } finally {
    // no state of this process can be relied on
    process.kill(process.pid, "SIGKILL");
  }
}, 1000);
