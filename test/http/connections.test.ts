import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectionsThatFit } from "../../src/connection-limit.ts";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
let port: number;
const opened: Socket[] = [];
beforeAll(async () => {
  test = await startApp({ settings: { MAX_CONNECTIONS: "3", CLIENT_STALL_TIMEOUT_MS: "300" } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(async () => (await count()) === 0);
});
afterAll(() => test.close());

const count = () => new Promise<number>((resolve) => test.app.server.getConnections((_, n) => resolve(n)));

/** Opens a connection that reads nothing; resolves with the service's end of it. */
async function open(bytes = ""): Promise<Socket> {
  const accepted = once(test.app.server, "connection") as Promise<[Socket]>;
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  opened.push(socket.pause());
  if (bytes !== "") socket.write(bytes);
  return (await accepted)[0];
}

const ask = () => sendRaw(port, head("GET /healthz HTTP/1.1", "Host: x", "Connection: close")).answer;

it("connections above the limit are closed, and accepted once others have ended", async () => {
  for (let n = 0; n < 3; n++) await open();
  expect(await ask()).toMatchObject({ status: 0 });
  opened[0]!.destroy();
  await until(async () => (await ask()).status === 200);
});

describe("a client with which nothing moves", () => {
  it("and that does not send its body gets 408", async () => {
    const lines = ["POST /trace/usage HTTP/1.1", "Host: x", `Authorization: ${authorization()}`];
    const { status, headers, body } = await sendRaw(port, head(...lines, "Content-Length: 9"), "{").answer;
    expect([status, headers["x-request-id"]]).toEqual([408, expect.stringMatching(/^[\w-]{8,}$/)]);
    expect(JSON.parse(body.toString())).toMatchObject({ detail: "The request did not arrive in time." });
  });

  it("and that does not read its response is disconnected", async () => {
    const theirs = await open(head("GET /openapi.json HTTP/1.1", "Host: x").repeat(200));
    await once(theirs, "close");
    expect(theirs.bytesWritten).toBeGreaterThan(0);
  });
});

it("the limit of connections reserves file descriptors for the engine, and a second one per gateway request", () => {
  const fit = (openFiles: number, embedded: boolean, gateway: boolean) =>
    connectionsThatFit(openFiles, { embedded, gateway });
  expect(fit(1024, true, false)).toBe(174);
  expect(fit(1024, true, true)).toBe(87);
  expect(fit(1024, false, false)).toBe(874);
  expect(fit(256, true, true)).toBe(32);
});
