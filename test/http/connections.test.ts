import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectionsThatFit } from "../../src/connection-limit.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
let port: number;
const opened: Socket[] = [];
beforeAll(async () => {
  test = await startApp({ settings: { MAX_CONNECTIONS: "3" } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(async () => (await count()) === 0);
});
afterAll(() => test.close());

const count = () => new Promise<number>((resolve) => test.app.server.getConnections((_, n) => resolve(n)));

async function open(): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  opened.push(socket);
  socket.on("error", () => undefined);
  const accepted = once(test.app.server, "connection");
  await once(socket, "connect");
  await accepted;
  return socket;
}

/** A connection whose request has come in half, and its answer once the other half is sent. */
async function openBusy(): Promise<{ finish(): Promise<string> }> {
  const socket = await open();
  const body = JSON.stringify({ project_id: "a/b" });
  const arrived = once(test.app.server, "request");
  const head = `POST /trace/usage HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization()}\r\n`;
  socket.write(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`);
  await arrived;
  return {
    async finish() {
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      socket.write(body.slice(1));
      await once(socket, "close");
      return text;
    },
  };
}

async function get(url: string, agent: Agent | false = false): Promise<[number, IncomingMessage]> {
  const sent = request(`http://127.0.0.1:${port}${url}`, {
    headers: { authorization: authorization() },
    agent,
  }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return [response.statusCode!, response];
}

describe("connections above the limit", () => {
  it("close the connection that has been idle longest", async () => {
    const first = await open();
    const [second, third] = [await open(), await open()];
    const gone = once(first, "close");
    expect((await get("/metrics"))[0]).toBe(200);
    await gone;
    expect([second.destroyed, third.destroyed]).toEqual([false, false]);
  });

  it("close no active connection, and keep one that sends requests repeatedly", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const busy = await openBusy();
    for (let round = 0; round < 5; round++) {
      expect((await get("/metrics", agent))[0]).toBe(200);
      await open();
    }
    expect(await busy.finish()).toMatch(/^HTTP\/1\.1 200 /);
    agent.destroy();
  });

  it("are rejected if all are active, except for health checks, and accepted once one is idle", async () => {
    const busy = [await openBusy(), await openBusy(), await openBusy()];
    const [status, { headers }] = await get("/metrics");
    expect([status, headers["retry-after"], headers.connection]).toEqual([503, "2", "close"]);
    expect((await get("/healthz"))[0]).toBe(200);
    for (const one of busy) expect(await one.finish()).toMatch(/^HTTP\/1\.1 200 /);
    expect((await get("/metrics"))[0]).toBe(200);
  });

  it("do not accumulate while they wait to be rejected", async () => {
    const busy = [await openBusy(), await openBusy(), await openBusy()];
    for (let n = 0; n < 100; n++) await open();
    expect(await count()).toBeLessThanOrEqual(3 + 32);
    for (const one of busy) expect(await one.finish()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("the limit of connections", () => {
  it("reserves file descriptors for the embedded engine, and a second one per gateway request", () => {
    const fit = (openFiles: number, embedded: boolean, gateway: boolean) =>
      connectionsThatFit(openFiles, { embedded, gateway });
    expect(fit(1024, true, false)).toBe(174);
    expect(fit(1024, true, true)).toBe(87);
    expect(fit(1024, false, false)).toBe(874);
    expect(fit(256, true, true)).toBe(32);
    expect(fit(Infinity, true, true)).toBe(20_000);
  });
});
