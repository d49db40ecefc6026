import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Session } from "chdb";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";
import { startFakeServer, type FakeServer } from "../helpers/fake-clickhouse-server.ts";
import { startProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const dir = mkdtempSync(join(tmpdir(), "sumtree-failed-starts-"));
const keeper = new Session(join(dir, "server"));
let front: FakeServer;
beforeAll(async () => {
  front = await startFakeServer(join(dir, "server"));
});
afterEach(() => {
  for (const fault of Object.keys(front.faults)) delete front.faults[fault as keyof typeof front.faults];
});
afterAll(async () => {
  await front.close();
  keeper.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the service, which is expected to give up, and returns what it says. */
async function failedStart(
  environment: Readonly<Record<string, string>>,
  uid: number | undefined = process.getuid?.(),
): Promise<string> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...CHILD_ENVIRONMENT, PORT: "0", DATA_DIR: join(dir, "fresh"), ...environment },
    stdio: ["ignore", "ignore", "pipe"],
    ...(uid === undefined ? {} : { uid }),
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
  expect(code).toBe(1);
  return said.trim();
}

function onServer(more: Readonly<Record<string, string>> = {}) {
  const url = front.url.replace("http://", "http://us3r:pa55word@");
  return { CLICKHOUSE_URL: url, ROOT_API_KEY: ROOT_KEY, ...more };
}

describe("an invalid setting", () => {
  it("is reported, with all others, without its value", async () => {
    const said = await failedStart({
      PORT: "eighty",
      LOG_LEVEL: "loud",
      BODY_LIMIT_BYTES: "-1",
      ROOT_API_KEY: "tiny-secret",
      CLICKHOUSE_URL: "ftp://tiny-secret@host",
      GATEWAY_PASSTHROUGH_PATHS: "maybe",
      TRUST_PROXY: "everybody",
    });
    const [title, ...problems] = said.split("\n");
    expect(title).toBe("Wrong settings:");
    expect(problems.map((problem) => problem.trim().split(":")[0])).toEqual([
      "PORT",
      "LOG_LEVEL",
      "CLICKHOUSE_URL",
      "TRUST_PROXY",
      "ROOT_API_KEY",
      "BODY_LIMIT_BYTES",
      "GATEWAY_PASSTHROUGH_PATHS",
    ]);
    expect(said).not.toMatch(/tiny-secret|loud|eighty|everybody/);
  });
});

it.each([
  ["TRAINING_UPSTREAM_URL", "not a url", "Wrong settings:\n  TRAINING_UPSTREAM_URL: must be a URL"],
  ["CLICKHOUSE_URL", "http://h/?tiny=secret", "Sumtree could not start: CLICKHOUSE_URL has parameters"],
  [
    "CLICKHOUSE_URL",
    "http://h/?request_timeout=secret",
    "Sumtree could not start: CLICKHOUSE_URL has parameters",
  ],
  ["PRICES_FILE", "/none/secret", "Sumtree could not start: PRICES_FILE: "],
])("%s=%s is one sentence", async (name, value, said) => {
  const message = await failedStart({ ROOT_API_KEY: ROOT_KEY, [name]: value });
  expect(message.startsWith(said)).toBe(true);
  expect(message).not.toMatch(/\n +at |tiny/);
});

describe("errors at start", () => {
  it("a port that is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const port = String((other.address() as AddressInfo).port);
    expect(await failedStart({ PORT: port })).toBe(
      `Sumtree could not start: port ${port} of 127.0.0.1 is in use. Stop the process using it, or set PORT.`,
    );
    other.close();
  });
  it("an address of another machine", async () => {
    expect(await failedStart({ HOST: "192.0.2.1" })).toBe(
      "Sumtree could not start: 192.0.2.1 is not an address of this machine. Set HOST.",
    );
  });
  it("a data directory that another process uses, which keeps running", async () => {
    const service = await startProcess({ DATA_DIR: join(dir, "shared"), ROOT_API_KEY: ROOT_KEY });
    const said = await failedStart({ DATA_DIR: join(dir, "shared") });
    expect((await service.post("/trace/usage", { project_id: "a/b" })).status).toBe(200);
    expect(said).toBe(
      `Sumtree could not start: DATA_DIR ${join(dir, "shared")} is in use by process ${service.child.pid}. Stop it or set another directory.`,
    );
    await service.end("SIGTERM");
  });
  it("a data directory that is a file", async () => {
    writeFileSync(join(dir, "file"), "");
    expect(await failedStart({ DATA_DIR: join(dir, "file") })).toContain(
      `Sumtree could not start: DATA_DIR ${join(dir, "file")} is a file. Set a directory.`,
    );
  });
  it("a data directory that cannot be created", async () => {
    expect(await failedStart({ DATA_DIR: join(dir, "file", "data") })).toBe(
      `Sumtree could not start: DATA_DIR ${join(dir, "file", "data")} cannot be created (ENOTDIR). Set another directory.`,
    );
  });
  it("a data directory of another user", async () => {
    const closed = join(dir, "closed");
    mkdirSync(closed, { mode: 0o555 });
    const user = process.getuid?.() === 0 ? 65_534 : process.getuid!();
    chmodSync(dir, 0o755);
    expect(await failedStart({ DATA_DIR: closed }, user)).toBe(
      `Sumtree could not start: DATA_DIR ${closed} is not writable by user ${user} (EACCES). Change its owner or set another directory.`,
    );
  });
  it("an invalid stored root key", async () => {
    mkdirSync(join(dir, "damaged"));
    writeFileSync(join(dir, "damaged/root-api-key"), "\n");
    expect(await failedStart({ DATA_DIR: join(dir, "damaged") })).toContain(
      "root-api-key holds no key. Delete it",
    );
  });
  it("an unreachable server", async () => {
    expect(await failedStart({ ...onServer(), CLICKHOUSE_URL: "http://us3r:pa55word@127.0.0.1:1/db" })).toBe(
      "Sumtree could not start: ClickHouse at 127.0.0.1:1 (CLICKHOUSE_URL) does not respond (ECONNREFUSED).",
    );
  });
  it("another program at the address", async () => {
    front.faults.badGateway = true;
    const said = await failedStart(onServer());
    expect(said).toMatch(
      /^Sumtree could not start: ClickHouse at 127\.0\.0\.1:\d+ \(CLICKHOUSE_URL\) does not respond/,
    );
  });
  it.each([
    [
      "Code: 516. DB::Exception: us3r: Authentication failed. (AUTHENTICATION_FAILED)",
      "rejects the user and password",
    ],
    [
      "Code: 81. DB::Exception: Database nope does not exist. (UNKNOWN_DATABASE)",
      "does not have the database named",
    ],
  ])("a server that responds %s", async (exception, said) => {
    front.faults.exception = exception;
    const message = await failedStart(onServer());
    expect(message).toContain(said);
    expect(message).not.toMatch(/us3r|pa55word/);
  });
  it("a server that is too old", async () => {
    front.faults.version = "25.8.3.66";
    expect(await failedStart(onServer())).toBe(
      "Sumtree could not start: ClickHouse is version 25.8.3.66; Sumtree needs 26.3 or newer.",
    );
  });
});

describe("a supported server", () => {
  it("is migrated and used, and rejected if an older version replaces it", async () => {
    const service = await startProcess(onServer());
    const ready = async () => {
      const response = await fetch(`${service.url}/readyz`);
      return [response.status, await response.json()];
    };
    const neither = { status: "not ready", reads: "not ready", writes: "not ready" };
    await expect.poll(ready).toEqual([200, { status: "ok", reads: "ok", writes: "ok" }]);
    front.faults.version = "25.8.3.66";
    await expect.poll(ready).toEqual([503, { ...neither, detail: "ClickHouse is older than 26.3." }]);
    front.faults.badGateway = true;
    await expect.poll(ready).toEqual([503, { ...neither, detail: "Store unreachable." }]);
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
