import { parseArgs, type ParseArgsConfig } from "node:util";
import { readConfig, type Config } from "../src/config.ts";
import { knownProblem } from "../src/start-failure.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

export const text = { type: "string" } as const;
/** Options of a command about a project of a service. */
export const serviceOptions = { project: text, url: text, help: { type: "boolean", short: "h" } } as const;

/** The options and arguments of the command line. A wrong one prints `usage`, exit code 2. */
export function argumentsOr<const Named extends Options>(usage: string, options: Named) {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    console.error(`${(error as Error).message.split(". ")[0]}.\n\n${usage}`);
    return process.exit(2);
  }
}

/** Reads the number that an option has. */
export function numberIn(given: string | undefined, option: string): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() === "" || Number.isNaN(number)) throw new Error(`--${option} must be a number.`);
  return number;
}

/** Runs a command with the settings. A failure prints one sentence for the operator, exit code 1. */
export async function orExit(run: (config: Config) => Promise<void>): Promise<void> {
  let config: Config | undefined;
  try {
    config = readConfig();
    await run(config);
  } catch (error) {
    console.error(knownProblem(error, config) ?? (error instanceof Error ? error.message : String(error)));
    process.exitCode = 1;
  }
}
