import { readFileSync } from "node:fs";

/** Clock ticks per second of `/proc`, on every Linux that Node runs on. */
const TICKS = 100;

/** Processor time of a process and of its main thread, in ms. Source: proc_pid_stat(5). */
export function processorTimeOf(pid: number): { readonly all: number; readonly main: number } {
  return { all: ticksIn(`/proc/${pid}/stat`), main: ticksIn(`/proc/${pid}/task/${pid}/stat`) };
}

function ticksIn(path: string): number {
  // the name of the command, in brackets, may have spaces
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(path, "utf8"))!;
  return ((Number(user) + Number(system)) * 1000) / TICKS;
}
