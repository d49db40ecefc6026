import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether this machine has a program that not every machine has. */
export function hasProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((dir) => existsSync(join(dir, name)));
}
