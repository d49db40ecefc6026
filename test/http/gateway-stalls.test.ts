import { connect, type Socket } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { head } from "../helpers/raw-http.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

/** Long enough that a pause of a busy machine is not taken for a client that has stopped. */
const STALL_MS = 2000;

let test: TestGateway;
let app: SecondApp;
let log = "";
beforeAll(async () => {
  test = await startGateway();
  const logger = pino({ level: "warn" }, { write: (line: string) => void (log += line) });
  app = await startSecondApp(test, { GATEWAY_STALL_TIMEOUT_MS: String(STALL_MS) }, { logger });
});
afterAll(async () => {
  await app.close();
  await test.close();
});

const large = `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"${"x".repeat(500_000)}"}}]}\n\n`;

/** A client that reads only when it is told to. */
function openStream(project: string): Socket {
  const body = '{"model":"m","stream":true,"messages":[]}';
  const socket = connect({ port: app.port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  socket.pause();
  const lines = ["host: g", `authorization: Bearer ${ROOT_KEY}`, `openai-project: ${project}`];
  socket.write(head("POST /v1/chat/completions HTTP/1.1", ...lines, `content-length: ${body.length}`) + body);
  return socket;
}

async function marksIn(project: string): Promise<{ outcome: string; exception: string } | undefined> {
  const [row] = await test.engine.rows<{ attributes: string; exception: string }>(
    sql`SELECT attributes, exception FROM calls FINAL WHERE project_id = ${param("String", project)}`,
    { name: "test" },
  );
  if (row === undefined) return undefined;
  const { sumtree } = JSON.parse(row.attributes) as { sumtree: { outcome: string } };
  return { outcome: sumtree.outcome, exception: row.exception };
}

describe("a client that stops reading", () => {
  it("is disconnected in time, and logged, counted and recorded as the cause", async () => {
    test.upstream.fail({ kind: "bytes", chunks: Array.from({ length: 60 }, () => large), ending: "hang" });
    const socket = openStream("acme/stalled");
    const began = performance.now();
    await until(() => test.upstream.seen.length > 0);
    expect(await test.upstream.seen.at(-1)!.left).toBe(true);
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(STALL_MS);
    await until(async () => (await marksIn("acme/stalled")) !== undefined);
    expect(await marksIn("acme/stalled")).toEqual({
      outcome: "client_stalled",
      exception: "The client did not read its response in time.",
    });
    expect(log).toContain("client stalled");
    const metrics = await (await fetch(`${app.url}/metrics`, { headers: bearer })).text();
    expect(metrics).toMatch(
      /gateway_requests_total\{route="POST \/chat\/completions",outcome="client_stalled"\} 1/,
    );
    // whoever reads on now sees all that was passed on, why there is no more, and no regular end
    let said = "";
    socket.on("data", (part: Buffer) => (said = (said + part.toString()).slice(-400)));
    await new Promise((resolve) => socket.once("close", resolve).resume());
    expect(said).toMatch(/data: \{"error":\{.*"code":"client_stalled"\}\}\n\n\r\n$/);
  });

  it("does not keep its connection once the upstream has long finished", async () => {
    test.upstream.fail({ kind: "bytes", chunks: [Buffer.alloc(8_000_000, "x")], ending: "end" });
    const socket = connect({ port: app.port, host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(head("GET /v1/objects/x HTTP/1.1", "host: g", `authorization: Bearer ${ROOT_KEY}`));
    const open = async (): Promise<string> => (await fetch(`${app.url}/metrics`, { headers: bearer })).text();
    await until(async () => (await open()).includes("sumtree_gateway_open_requests 1"));
    await until(async () => (await open()).includes("sumtree_gateway_open_requests 0"));
    socket.destroy();
  });
});
