import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const requirements = join(import.meta.dirname, "requirements");
const environments = join(import.meta.dirname, ".environments");

/** Packages that do not fit together have an environment each: the names of the files in `requirements`. */
export type Environment = "core" | "official" | "strands" | "crewai" | "adk";

/** The interpreter of an environment; its packages are installed the first time. Cost: a minute or two, then nothing. */
export function pythonOf(name: Environment): string {
  const file = join(requirements, `${name}.txt`);
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 12);
  const home = join(environments, `${name}-${digest}`);
  const python = join(home, "bin", "python");
  if (existsSync(join(home, "complete"))) return python;
  removeOlder(name);
  const options = { stdio: "inherit" } as const;
  execFileSync(systemPython(), ["-m", "venv", home], options);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", file];
  execFileSync(python, install, options);
  writeFileSync(join(home, "complete"), "");
  return python;
}

export function systemPython(): string {
  return process.env["PYTHON"] ?? "python3";
}

function removeOlder(name: string): void {
  if (!existsSync(environments)) return;
  for (const entry of readdirSync(environments)) {
    if (entry.startsWith(`${name}-`)) rmSync(join(environments, entry), { recursive: true, force: true });
  }
}
