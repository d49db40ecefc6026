import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pythonOf, type Environment } from "./environments.ts";

export const PROGRAMS = join(import.meta.dirname, "programs");

export interface PythonEnd {
  readonly exitCode: number | null;
  readonly output: string;
}

/** After which a program is killed. A busy machine takes a tenth of it. */
const LONGEST_MS = 300_000;

/**
 * Runs Python in a process, a home and a temporary folder of its own: packages keep there what they sent, and would not send
 * the same to the next service.
 */
export async function runPython(
  environment: Environment,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  longestMs = LONGEST_MS,
): Promise<PythonEnd> {
  const home = mkdtempSync(join(tmpdir(), "sumtree-python-"));
  const python = pythonOf(environment);
  const child = spawn(python, args, {
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      TMPDIR: home,
      PYTHONPATH: PROGRAMS,
      PYTHONUNBUFFERED: "1",
      // compiled once per environment, and never into the checkout
      PYTHONPYCACHEPREFIX: join(dirname(dirname(python)), "bytecode"),
      // what the packages would send to their makers
      WANDB_ERROR_REPORTING: "false",
      WEAVE_PRINT_CALL_LINK: "false",
      DO_NOT_TRACK: "1",
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      ...variables,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  let output = "";
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output += text.toString()));
  const [exitCode] = (await once(child, "close")) as [number | null];
  rmSync(home, { recursive: true, force: true });
  return { exitCode, output };
}
