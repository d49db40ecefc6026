import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "sumtree-package-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  version: string;
  dependencies: Readonly<Record<string, string>>;
  optionalDependencies: Readonly<Record<string, string>>;
};
const modules = join(dir, "node_modules");
const BIN = join(modules, "sumtree/bin/sumtree.js");

/** The packed file where npm would put it, beside what it depends on and nothing else. */
beforeAll(() => {
  const env = { ...process.env, npm_config_loglevel: "silent" };
  const packed = execFileSync("npm", ["pack", "--pack-destination", dir], {
    cwd: ROOT,
    encoding: "utf8",
    env,
  });
  mkdirSync(modules);
  execFileSync("tar", ["-xzf", join(dir, packed.trim().split("\n").at(-1)!), "-C", modules]);
  execFileSync("mv", [join(modules, "package"), join(modules, "sumtree")]);
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    mkdirSync(join(modules, name, ".."), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
});

/** A Node that is too old to run the service itself, if this machine has one. */
const oldNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((path) => join(path, "node"))
  .find((path) => {
    const said = existsSync(path) ? spawnSync(path, ["--version"], { encoding: "utf8" }).stdout : "";
    return /^v(2[0-3])\./.test(said);
  });
const nodes = [process.execPath, ...(oldNode === undefined ? [] : [oldNode])];

function sumtree(node: string, ...args: string[]) {
  const env = { PATH: process.env["PATH"], DATA_DIR: join(dir, "data") };
  return spawnSync(node, [BIN, ...args], { encoding: "utf8", env });
}

describe("the packed file", () => {
  it("contains the needed files, and no tests, data or keys", () => {
    const files = readdirSync(join(modules, "sumtree"), { recursive: true, encoding: "utf8" });
    for (const file of [
      "LICENSE",
      "README.md",
      "CHANGELOG.md",
      "bin/sumtree.js",
      "dist/migrations",
      "dist/src/prices/list/corrections.json",
      "dist/web/built/index.html",
      "deploy",
    ])
      expect(files).toContain(file);
    expect(files.filter((file) => /\.test\.[jt]s|\.ts$|^src|root-api-key|node_modules/.test(file))).toEqual(
      [],
    );
  });

  it.each(nodes)("prints its version and its usage, on %s", (node) => {
    expect(sumtree(node, "--version").stdout).toBe(`${manifest.version}\n`);
    expect(sumtree(node, "--help")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("sumtree demo"),
    });
    expect(sumtree(node, "toString")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("sumtree demo"),
    });
  });

  it("contains every command of its usage", () => {
    const { stdout } = sumtree(process.execPath, "--help");
    const commands = [...stdout.matchAll(/^ {2}sumtree ([a-z][a-z-]+)/gm)].map(([, name]) => name!);
    expect(commands.length).toBeGreaterThan(5);
    for (const name of commands)
      expect(existsSync(join(modules, "sumtree/dist/scripts", `${name}.js`)), name).toBe(true);
  });

  it.each(nodes)("creates keys, starts, is ready and stops gracefully, on %s", async (node) => {
    const made = sumtree(node, "keys", "create", "--name", "x", "--scope", "read", "--project", "*");
    expect(made).toMatchObject({ status: 0, stdout: expect.stringMatching(/^st_\w{12}_/) });
    const child = spawn(node, [BIN], {
      env: { PATH: process.env["PATH"], DATA_DIR: join(dir, "data"), PORT: "0" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const gone = once(child, "exit");
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /listening at (http:[^"]+)/.exec(line)?.[1];
      if (url === undefined) continue;
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await (await fetch(url)).text()).toContain("<title>Sumtree</title>");
      const me = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${made.stdout.trim()}` } });
      expect(await me.json()).toMatchObject({ name: "x", scopes: ["read"] });
      child.kill("SIGTERM");
    }
    expect(await gone).toEqual([0, null]);
  });

  it.runIf(oldNode !== undefined)("prints a remedy with an old Node", () => {
    rmSync(join(modules, "node"));
    const said = sumtree(oldNode!, "start");
    expect([said.status, said.stderr]).toEqual([
      1,
      expect.stringMatching(/^Sumtree needs Node 24 or newer, and this is v2[0-3]\./),
    ]);
  });
});
