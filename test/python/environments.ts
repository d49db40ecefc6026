import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const requirements = join(import.meta.dirname, "requirements");
const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sumtree", "python");

const environments = [
  "core",
  "official",
  "schemathesis",
  "art",
  "strands",
  "adk",
  "crewai",
  "more",
  "frameworks",
  "mlflow",
  "datasets",
] as const;
/** Packages that do not fit together have an environment each: the names of the files in `requirements`. */
export type Environment = (typeof environments)[number];

/** Environments in `PYTHON_ENVIRONMENTS`, separated by spaces; default: all. */
export const chosenEnvironments: readonly Environment[] = chosen(process.env["PYTHON_ENVIRONMENTS"]);

function chosen(text: string | undefined): readonly Environment[] {
  if (text === undefined) return environments;
  const names = text.split(" ").filter((name) => name !== "");
  const unknown = names.filter((name) => !environments.some((known) => known === name));
  if (unknown.length > 0) throw new Error(`PYTHON_ENVIRONMENTS: there is no ${unknown.join(", ")}`);
  return environments.filter((known) => names.includes(known));
}

export function isChosen(environment: Environment): boolean {
  return chosenEnvironments.includes(environment);
}

/**
 * The interpreter of an environment. Its packages are installed the first time, into the user's cache folder, and again when its requirements
 * change. Cost: a minute or two, then nothing.
 */
export function pythonOf(name: Environment): string {
  const file = join(requirements, `${name}.txt`);
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 12);
  const home = join(cache, `${name}-${digest}`);
  if (!existsSync(home)) install(file, home);
  return join(home, "bin", "python");
}

/** Whole or not at all: an environment that is half installed is never found under its name. */
function install(file: string, home: string): void {
  const begun = `${home}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  try {
    const options = { stdio: "inherit" } as const;
    execFileSync(systemPython(), ["-m", "venv", begun], options);
    const pip = [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--no-compile",
      "--no-deps",
      "-r",
      file,
    ];
    execFileSync(join(begun, "bin", "python"), pip, options);
    if (!existsSync(home)) renameSync(begun, home);
  } finally {
    rmSync(begun, { recursive: true, force: true });
  }
}

function systemPython(): string {
  return process.env["PYTHON"] ?? "python3";
}
