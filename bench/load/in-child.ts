import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Runs a file of this folder in a process of its own, so that the load costs the service nothing. Returns its answer. */
export async function inChild<Result>(file: string, task: object): Promise<Result> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`${file} ended with ${String(code)}`);
  return JSON.parse(said) as Result;
}

/** The other end: the task of this process. */
export function taskOf<Task>(): Task {
  return JSON.parse(process.argv[2]!) as Task;
}
