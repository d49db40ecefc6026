import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-stop-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let service: ServiceProcess;
let port: number;
beforeEach(async () => {
  service = await startProcess({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, SHUTDOWN_TIMEOUT_MS: "20000" });
  port = Number(new URL(service.url).port);
});

/** This one included. */
async function openRequests(): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
  return Number(/^sumtree_http_open_requests (\d+)$/m.exec(await response.text())![1]);
}

async function hasStoppedListening(): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

/** Its exit code: 0 if it did not have to give up waiting. */
function stop(): Promise<number | null> {
  return service.end("SIGTERM");
}

describe("a graceful stop", () => {
  it("does not wait for connections without a request, or with an incomplete one", async () => {
    const sockets = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      await once(socket, "connect");
    }
    sockets[1]!.write("GET /healthz HT");
    // who comes later is answered: by then the service has read what came before
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect(await stop()).toBe(0);
  });

  it("does not wait for keep-alive connections", async () => {
    const agent = new Agent({ keepAlive: true });
    const sent = request(`${service.url}/healthz`, { agent }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    expect(await stop()).toBe(0);
    agent.destroy();
  });

  it("completes running requests", async () => {
    const agent = new Agent({ keepAlive: true });
    const start = {
      project_id: "a/b",
      id: "c",
      trace_id: "t",
      op_name: "o",
      started_at: "2026-01-01T00:00:00Z",
    };
    const body = JSON.stringify({ start });
    const headers = {
      authorization: `Bearer ${ROOT_KEY}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request(`${service.url}/call/start`, { agent, method: "POST", headers });
    sent.write(body.slice(0, 10));
    await until(async () => (await openRequests()) === 2);
    const stopped = stop();
    await until(hasStoppedListening);
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    sent.end(body.slice(10));
    const [response] = await answered;
    response.resume();
    expect([response.statusCode, await stopped]).toEqual([200, 0]);
    agent.destroy();
  });
});
