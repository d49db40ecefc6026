import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-stop-"));
let silent: Server;
let upstream: string;
beforeAll(async () => {
  silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  upstream = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(settings: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return startProcess({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, INGEST_LINGER_MS: "1000", ...settings });
}

const call = (id: string) => ({
  start: {
    project_id: "acme/stop",
    id,
    trace_id: "t",
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: {},
    attributes: {},
  },
});

/** A chat completion whose upstream never answers. */
function hang(service: ServiceProcess): void {
  fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: authorization(ROOT_KEY, "bearer"), "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [] }),
  }).catch(() => undefined);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return (performance.now() - before) / 1000;
}

describe("SIGTERM", () => {
  it("finishes what runs, takes no new connection, and exits 0; what was acknowledged is there", async () => {
    const service = await start();
    const answers = ["a", "b", "c"].map((id) => service.post("/call/start", call(id)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const ended = service.end("SIGTERM");
    await expect
      .poll(() =>
        service.post("/trace/usage", {}).then(
          () => "taken",
          () => "refused",
        ),
      )
      .toBe("refused");
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(await ended).toBe(0);

    const again = await start();
    const usage = await again.post("/trace/usage", { project_id: "acme/stop" });
    expect(Object.keys(((await usage.json()) as { call_usage: object }).call_usage)).toEqual(["a", "b", "c"]);
    expect(await again.end("SIGINT")).toBe(0);
  });

  it("answers a request that still comes over an open connection, and then closes that", async () => {
    const service = await start();
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const begun = `POST /call/start HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization()}\r\nContent-Type: application/json\r\n`;
    const body = JSON.stringify(call("d"));
    socket.write(`${begun}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const ended = service.end("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write(`${body.slice(5)}${head("/healthz")}`);
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe("HTTP/1.1 200");
    expect(answers).toMatch(/connection: close/i);
    expect(await ended).toBe(0);
  });

  it("a second time ends at once", async () => {
    const service = await start({ CHAT_UPSTREAM_URL: upstream, SHUTDOWN_TIMEOUT_MS: "60000" });
    hang(service);
    await new Promise((resolve) => setTimeout(resolve, 200));
    service.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(service.child.exitCode).toBeNull();
    expect(await secondsOf(async () => expect(await service.end("SIGTERM")).toBe(1))).toBeLessThan(1);
  });

  it("does not wait beyond the deadline for a request that does not end", async () => {
    const service = await start({ SHUTDOWN_TIMEOUT_MS: "700" });
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      `POST /call/start HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization()}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await secondsOf(async () => expect(await service.end("SIGTERM")).toBe(1))).toBeLessThan(3);
    socket.destroy();
  });
});
