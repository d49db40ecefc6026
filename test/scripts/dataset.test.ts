import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatCalls } from "../helpers/chat-calls.ts";
import { runScript } from "../helpers/run-script.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { bearer } from "../helpers/start-gateway.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-dataset-"));
const dataDir = join(dir, "data");
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const dataset = (...args: readonly string[]) =>
  runScript("dataset.ts", args, { DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });

const exportTo = (out: string, ...more: readonly string[]) =>
  dataset("export", "--project", "acme/a", "--format", "chat", "--out", out, ...more);

/** Returns a new directory, and the path of a file in it. */
function newFile(): { readonly folder: string; readonly out: string } {
  const folder = mkdtempSync(join(dir, "out-"));
  return { folder, out: join(folder, "train.jsonl") };
}

function expectExported(folder: string, lines: readonly string[]): void {
  const text = readFileSync(join(folder, "train.jsonl"), "utf8");
  expect(text.split("\n").slice(0, -1)).toEqual(lines);
  const manifest = JSON.parse(readFileSync(join(folder, "train.jsonl.manifest.json"), "utf8")) as object;
  expect(manifest).toMatchObject({
    lines: lines.length,
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  });
  expect(readdirSync(folder).toSorted()).toEqual(["train.jsonl", "train.jsonl.manifest.json"]);
}

const lineOf = (id: string): string =>
  `{"messages":[{"role":"user","content":"q-${id}"},{"role":"assistant","content":"a-${id}"}]}`;

async function send(service: ServiceProcess): Promise<void> {
  const batch = chatCalls([{ id: "one" }, { id: "two" }, { id: "three" }]);
  const headers = { ...bearer, "content-type": "application/json" };
  const url = `${service.url}/v2/acme/a/calls/complete`;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ batch }) });
  expect(await response.json()).toEqual({ rejected: [] });
}

describe("npm run dataset", () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess({ DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });
    await send(service);
  });
  afterAll(() => service.end("SIGTERM"));

  it("writes the lines of the service that runs, and their manifest, and lists the export", async () => {
    const { folder, out } = newFile();
    const written = await exportTo(out, "--limit", "2", "--dedupe", "--filter", '{"op_names":["chat"]}');
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(written.stdout).toMatch(/^2 lines, \d+ bytes, sha256 [0-9a-f]{64}\n/);
    expect(written.stdout).toContain('"left_out":{"over_limit":1}');
    expectExported(folder, [lineOf("one"), lineOf("two")]);
    const { sha256 } = JSON.parse(readFileSync(`${out}.manifest.json`, "utf8")) as { sha256: string };
    expect((await dataset("list", "--project", "acme/a")).stdout).toContain(sha256.slice(0, 12));
  });

  it("refuses a file that it cannot write, or that exists, before it asks the service", async () => {
    const { out } = newFile();
    const missing = join(out, "missing", "train.jsonl");
    // no service answers here
    const nobody = ["--url", "http://127.0.0.1:1"];
    const unwritable = await exportTo(missing, ...nobody);
    expect(unwritable).toMatchObject({ code: 1, stderr: expect.stringContaining("ENOENT") });
    writeFileSync(out, "mine");
    expect(await exportTo(out, ...nobody)).toMatchObject({ code: 1, stderr: `${out} exists.\n` });
    rmSync(out);
    mkdirSync(`${out}.manifest.json`);
    expect(await exportTo(out, ...nobody)).toMatchObject({
      code: 1,
      stderr: `${out}.manifest.json exists.\n`,
    });
    expect(existsSync(out)).toBe(false);
  });

  it("leaves no file if there is nothing to export, or the transfer breaks off", async () => {
    const { folder, out } = newFile();
    const none = await exportTo(out, "--filter", '{"op_names":["none"]}');
    expect(none).toMatchObject({ code: 1, stderr: "Nothing to export: no calls are selected\n" });
    const broken = createServer((_request, response) => {
      response.writeHead(200, { "x-sumtree-export-id": "e" });
      response.write("{}\n", () => response.destroy());
    });
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
    const { port } = broken.address() as AddressInfo;
    try {
      expect((await exportTo(out, "--url", `http://127.0.0.1:${port}`)).code).toBe(1);
    } finally {
      broken.close();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it("tells of a service that names no export, and of one whose lines are others", async () => {
    const { folder, out } = newFile();
    let headers = {};
    const other = createServer((request, response) => {
      const isExport = request.url === "/dataset/export";
      response.writeHead(200, isExport ? headers : {});
      response.end(isExport ? "{}\n" : JSON.stringify({ exports: [{ id: "e", sha256: "0", counts: {} }] }));
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      expect(await exportTo(out, "--url", url)).toMatchObject({
        code: 1,
        stderr: "The response names no export.\n",
      });
      headers = { "x-sumtree-export-id": "e" };
      expect(await exportTo(out, "--url", url)).toMatchObject({
        code: 1,
        stderr: "The lines are not those of the manifest.\n",
      });
    } finally {
      other.close();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it("tells how it is used, and what is wrong", async () => {
    for (const args of [[], ["export", "--project", "acme/a"], ["list"], ["--nothing"]])
      expect(await dataset(...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Export calls as examples"),
      });
    const { out } = newFile();
    expect(await exportTo(out, "--filter", "{")).toMatchObject({
      code: 1,
      stderr: "--filter must be JSON.\n",
    });
    expect(await exportTo(out, "--limit", "many")).toMatchObject({
      code: 1,
      stderr: "--limit must be a number.\n",
    });
    expect(await exportTo(out, "--limit", "0")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("limit: "),
    });
  });
});

describe("npm run dataset without a service", () => {
  it("opens the store itself", async () => {
    const { folder, out } = newFile();
    expect(await exportTo(out)).toMatchObject({ code: 0 });
    expectExported(folder, ["one", "two", "three"].map(lineOf));
    expect(await exportTo(`${out}.2`, "--filter", '{"op_names":["none"]}')).toMatchObject({
      code: 1,
      stderr: "Nothing to export: no calls are selected\n",
    });
  });
});
