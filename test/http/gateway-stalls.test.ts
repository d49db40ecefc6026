import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  bearer,
  recordedCall,
  sendTo,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

/** The client reads nothing at all, so any time is long enough. */
const STALL_MS = 400;

let test: TestGateway;
let app: SecondApp;
let log = "";
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(async () => {
  const logger = pino({ level: "warn" }, { write: (line: string) => void (log += line) });
  app = await startSecondApp(test, { GATEWAY_STALL_TIMEOUT_MS: String(STALL_MS) }, { logger });
  return () => app.close();
});

const metrics = async (): Promise<string> => (await fetch(`${app.url}/metrics`, { headers: bearer })).text();

describe("a client that stops reading", () => {
  const large = `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"${"x".repeat(500_000)}"}}]}\n\n`;

  it("is disconnected in time, and logged, counted and recorded as the cause", async () => {
    test.upstream.fail({ kind: "bytes", chunks: Array.from({ length: 60 }, () => large), ending: "hang" });
    const line = "POST /v1/chat/completions";
    const { socket, received } = sendTo(app, line, ["openai-project: acme/stalled"], '{"stream":true}');
    socket.pause();
    await until(() => test.upstream.seen.length > 0);
    expect(await test.upstream.seen[0]!.left).toBe(true);
    expect(await recordedCall(test, "acme/stalled")).toMatchObject({
      attributes: { sumtree: { outcome: "client_stalled" } },
      exception: "The client did not read its response in time.",
    });
    expect(log).toContain("client stalled");
    expect(await metrics()).toMatch(
      /requests_total\{route="POST \/chat\/completions",outcome="client_stalled"\} 1/,
    );
    // whoever reads on now sees all that was passed on, why there is no more, and no regular end
    await new Promise((resolve) => socket.once("close", resolve).resume());
    expect(received().subarray(-400).toString()).toMatch(
      /data: \{"error":\{.*"code":"client_stalled"\}\}\n\n\r\n$/,
    );
  });

  it("does not keep its connection once the upstream has long finished", async () => {
    test.upstream.fail({ kind: "bytes", chunks: [Buffer.alloc(8_000_000, "x")], ending: "end" });
    const { socket } = sendTo(app, "GET /v1/objects/x");
    socket.pause();
    await until(async () => (await metrics()).includes("sumtree_gateway_open_requests 1"));
    await until(async () => (await metrics()).includes("sumtree_gateway_open_requests 0"));
    socket.destroy();
  });
});
