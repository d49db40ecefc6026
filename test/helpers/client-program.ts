import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHILD_ENVIRONMENT } from "./child-environment.ts";

export interface ProgramEnd {
  readonly exitCode: number | null;
  /** Output, without the result. */
  readonly output: string;
  /** JSON that the program printed after `RESULT`. */
  // eslint-disable-next-line typescript/no-explicit-any -- assertions look into results of any shape
  readonly result: any;
}

const PROGRAMS = join(import.meta.dirname, "../clients/programs");

/** Runs a program of a client's user in a process and a home of its own: SDKs keep files, and may end their process. */
export async function runProgram(
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<ProgramEnd> {
  const home = mkdtempSync(join(tmpdir(), "sumtree-client-"));
  const child = spawn(process.execPath, [join(PROGRAMS, name)], {
    cwd: home,
    env: { ...CHILD_ENVIRONMENT, HOME: home, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output += text.toString()));
  const [exitCode] = (await once(child, "close")) as [number | null];
  rmSync(home, { recursive: true, force: true });
  const [printed = "", result] = output.split("\nRESULT ");
  return { exitCode, output: printed, result: result === undefined ? undefined : JSON.parse(result) };
}
