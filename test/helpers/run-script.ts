import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { CHILD_ENVIRONMENT } from "./child-environment.ts";

export interface ScriptEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of `scripts` to its end. */
export async function runScript(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ScriptEnd> {
  const script = join(import.meta.dirname, "../../scripts", file);
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...args], {
      env: { ...CHILD_ENVIRONMENT, ...environment },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as ScriptEnd;
  }
}
