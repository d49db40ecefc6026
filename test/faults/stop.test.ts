import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { startProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-stop-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ASK = head("GET /healthz HTTP/1.1", "Host: x");
const BODY =
  '{"start":{"project_id":"a/b","id":"c","trace_id":"t","op_name":"o","started_at":"2026-01-01T00:00:00Z"}}';
const INGEST = head(
  "POST /call/start HTTP/1.1",
  "Host: x",
  `Authorization: ${authorization()}`,
  `Content-Length: ${BODY.length}`,
);

it("a stop closes connections without a request at once, and completes running requests", async () => {
  const service = await startProcess({
    DATA_DIR: dir,
    ROOT_API_KEY: ROOT_KEY,
    SHUTDOWN_TIMEOUT_MS: "120000",
  });
  const port = Number(new URL(service.url).port);
  const open = async (bytes: string): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    socket.write(bytes);
    return socket;
  };
  const idle = await Promise.all(["", "GET /healthz HT", ASK].map(open));
  const running = sendRaw(port, INGEST, BODY.slice(0, 9));
  await once(idle[2]!, "data");
  const isRead = async (): Promise<boolean> => {
    const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
    return /^sumtree_http_open_requests 2$/m.test(await metrics.text());
  };
  await until(isRead);

  const stopped = service.end("SIGTERM");
  await Promise.all(idle.map((socket) => once(socket.resume(), "close")));
  running.socket.write(BODY.slice(9));
  expect(await running.answer).toMatchObject({
    status: 200,
    headers: { connection: "close" },
    complete: true,
  });
  expect(await stopped).toBe(0);
});
